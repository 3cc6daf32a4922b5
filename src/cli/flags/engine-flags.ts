import type { FlagSpecs } from '../verb.ts'

const where = 'Where'
const what = 'The engine'
const wrong = 'What goes wrong'

/** Flags of `plimsoll engine`; `run` and `sweep` take the same as `--engine-…`. */
export const engineFlags: FlagSpecs = {
  port: {
    kind: 'text',
    group: where,
    brief: 'Port; 0 takes a free one',
    placeholder: 'PORT',
    letter: 'p',
    default: '8000',
  },
  host: {
    kind: 'text',
    group: where,
    brief: 'Address to listen on',
    placeholder: 'HOST',
    default: '127.0.0.1',
  },
  model: { kind: 'text', group: where, brief: 'Name that it answers to', placeholder: 'NAME', letter: 'm' },
  truth: {
    kind: 'text',
    group: where,
    brief: 'Write what happened to each request as JSON Lines, to check a client against',
    placeholder: 'FILE',
  },
  preset: {
    kind: 'text',
    group: what,
    brief: 'Cited coefficients of a GPU and model',
    placeholder: 'NAME',
    default: 'demo',
  },
  'max-num-seqs': { kind: 'text', group: what, brief: 'Requests in one step', placeholder: 'N' },
  'max-num-batched-tokens': { kind: 'text', group: what, brief: 'Tokens in one step', placeholder: 'N' },
  'max-num-waiting': {
    kind: 'text',
    group: what,
    brief: 'Requests that may wait; more are refused',
    placeholder: 'N',
  },
  'num-gpu-blocks': { kind: 'text', group: what, brief: 'Blocks of the KV pool', placeholder: 'N' },
  'kv-tokens': { kind: 'text', group: what, brief: 'The KV pool in tokens', placeholder: 'N' },
  'block-size': { kind: 'text', group: what, brief: 'Tokens in a block', placeholder: 'N' },
  'watermark-blocks': {
    kind: 'text',
    group: what,
    brief: 'Blocks that an admission leaves free',
    placeholder: 'N',
  },
  'front-end': {
    kind: 'text',
    group: what,
    brief: 'Time before a request may be scheduled',
    placeholder: 'TIME',
  },
  'max-model-len': { kind: 'text', group: what, brief: 'Longest prompt with its answer', placeholder: 'N' },
  'prefix-caching': {
    kind: 'switch',
    group: what,
    brief: 'Reuse prefixes (--no-prefix-caching turns it off)',
  },
  'chunked-prefill': {
    kind: 'switch',
    group: what,
    brief: 'Split long prompts over steps (--no-chunked-prefill turns it off)',
  },
  'long-prefill-token-threshold': {
    kind: 'text',
    group: what,
    brief: 'Most tokens of one prompt in a step',
    placeholder: 'N',
  },
  'step-time': {
    kind: 'text',
    group: what,
    brief: 'Coefficients of the step time over those of the preset: c0=6.4ms,c1=17.1us,…',
    placeholder: 'TEXT',
  },
  jitter: {
    kind: 'text',
    group: what,
    brief: 'Spread of the step time (sigma of its logarithm)',
    placeholder: 'X',
  },
  'output-mean': {
    kind: 'text',
    group: what,
    brief: 'Mean length of answers that no one fixed',
    placeholder: 'TOKENS',
  },
  'output-dist': { kind: 'text', group: what, brief: 'Their distribution', placeholder: 'TEXT' },
  seed: { kind: 'text', group: what, brief: 'The same seed answers the same', placeholder: 'TEXT' },
  fault: {
    kind: 'list',
    group: wrong,
    brief: '"stall 3s at 10s", "429 when waiting>64", "cut stream after token 37", …; may be repeated',
    placeholder: 'TEXT',
  },
  json: { kind: 'switch', group: where, brief: 'One JSON line with the address instead of words' },
  config: { kind: 'text', group: wrong, brief: 'File with settings and faults', placeholder: 'FILE' },
}
