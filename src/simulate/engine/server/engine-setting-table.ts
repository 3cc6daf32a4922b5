import { faultForms } from '../fault-grammar.ts'

/** One thing that a simulated server may be told: how it is asked for on the command line, and what may be said. */
export interface EngineSetting {
  readonly kind: 'text' | 'switch' | 'list'
  readonly group: 'Where' | 'The engine' | 'What goes wrong'
  readonly brief: string
  /** What may be said, for whoever said something else. */
  readonly form: string
  readonly placeholder?: string
  readonly letter?: string
  readonly default?: string
}

const number = (brief: string, form: string): EngineSetting => text(brief, form, 'N')

function text(brief: string, form: string, placeholder: string, value?: string): EngineSetting {
  return {
    kind: 'text',
    group: 'The engine',
    brief,
    form,
    placeholder,
    ...(value === undefined ? {} : { default: value }),
  }
}

function onOff(brief: string): EngineSetting {
  return { kind: 'switch', group: 'The engine', brief, form: 'on or off' }
}

/** By their names, which are those of vLLM where it has them; a switch may also be said with `no-` before its name. */
export const engineSettingTable: Readonly<Record<string, EngineSetting>> = {
  port: {
    ...text('Port; 0 takes a free one', 'a port, 0 for a free one', 'PORT', '8000'),
    group: 'Where',
    letter: 'p',
  },
  host: { ...text('Address to listen on', 'an address to listen on', 'HOST', '127.0.0.1'), group: 'Where' },
  model: {
    ...text('Name that it answers to', 'the name that it answers to', 'NAME'),
    group: 'Where',
    letter: 'm',
  },
  truth: {
    ...text('Write what happened to each request as JSON Lines, to check a client against', 'a file', 'FILE'),
    group: 'Where',
  },
  preset: text('Cited coefficients of a GPU and model', 'the name of a preset', 'NAME', 'demo'),
  policy: text('Who is in a step: vllm, sglang or static', 'vllm, sglang or static', 'NAME', 'vllm'),
  speculative: number('Tokens that a draft model proposes for each step', 'tokens of a draft, at least 1'),
  accept: text(
    'Chance of each drafted token, given those before it: 0.8,0.6,0.4; the last holds for the rest',
    'chances from 0 to 1 like 0.8,0.6,0.4, no more than drafted tokens',
    'LIST',
  ),
  'async-scheduling': onOff('Schedule the next step while the one before runs'),
  'mixed-chunk': onOff('With sglang: decoding rows join the steps of a prompt'),
  'host-time': text('Time of the host before each step', 'a time before each step, like 0.4ms', 'TIME'),
  'max-num-seqs': number('Requests in one step', 'requests in one step, at least 1'),
  'max-num-batched-tokens': number('Tokens in one step', 'tokens in one step, at least 1'),
  'max-num-waiting': number('Requests that may wait; more are refused', 'requests that may wait'),
  'num-gpu-blocks': number('Blocks of the KV pool', 'blocks of the KV pool with the null block, at least 2'),
  'kv-tokens': number('The KV pool in tokens', 'tokens of the KV pool'),
  'block-size': number('Tokens in a block', 'tokens of a block, at least 1'),
  'watermark-blocks': number('Blocks that an admission leaves free', 'blocks that an admission leaves free'),
  'front-end': text('Time before a request may be scheduled', 'a time before scheduling, like 6ms', 'TIME'),
  'max-model-len': number('Longest prompt with its answer', 'tokens of prompt and answer, at least 2'),
  'prefix-caching': onOff('Reuse prefixes (--no-prefix-caching turns it off)'),
  'chunked-prefill': onOff('Split long prompts over steps (--no-chunked-prefill turns it off)'),
  'long-prefill-token-threshold': number(
    'Most tokens of one prompt in a step',
    'tokens of one prompt in a step, 0 for no limit',
  ),
  'step-time': text(
    'Coefficients of the step time over those of the preset: c0=6.4ms,c1=17.1us,…',
    'coefficients like c0=6.4ms,c1=17.1us,c2=45ns,c3=0.99ns,c4=10us,t0=273',
    'TEXT',
  ),
  jitter: text(
    'Spread of the step time (sigma of its logarithm)',
    'the sigma of the logarithm of the step time, like 0.02',
    'X',
  ),
  'output-mean': text('Mean length of answers that no one fixed', 'tokens, at least 1', 'TOKENS'),
  'output-dist': text('Their distribution', 'fixed, uniform, lognormal or geometric', 'TEXT'),
  seed: text('The same seed answers the same', 'any text', 'TEXT'),
  fault: {
    kind: 'list',
    group: 'What goes wrong',
    brief: `${faultForms.map(([, form]) => `"${form}"`).join(', ')}; those of requests take 5%, 1 in 20, at, from, until and for; may be repeated`,
    form: 'a fault like "stall 3s at 10s"',
    placeholder: 'TEXT',
  },
}

/** Every name that may be said, those of switches with their `no-` forms, and what may be said of it. */
export const engineSettingForms: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(engineSettingTable).flatMap(([name, { kind, form }]) => [
    [name, form],
    ...(kind === 'switch' ? [[`no-${name}`, 'a switch'] as const] : []),
  ]),
)
