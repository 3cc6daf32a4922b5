import type { FlagSpecs } from '../verb.ts'

const group = 'What to ask'

export const workloadFlags: FlagSpecs = {
  workload: {
    kind: 'text',
    group,
    brief: 'random, jsonl, sharegpt, batch (OpenAI batch file), trace (recorded traffic) or mix',
    placeholder: 'KIND',
    aliases: ['dataset-name'],
    default: 'random',
  },
  'dataset-path': {
    kind: 'text',
    group,
    brief: 'File of the workload',
    placeholder: 'FILE',
    aliases: ['input-file'],
  },
  'trace-speed': {
    kind: 'text',
    group,
    brief:
      'Of a trace: its own times, so many times as fast (2x); another load, as --request-rate, replaces them',
    placeholder: 'FACTOR',
    default: '1x',
  },
  class: {
    kind: 'list',
    group,
    brief:
      'A class of a mix with its weight, and what it asks: chat=3:D(900,200), code=1:jsonl:FILE; the class is the segment of the row',
    placeholder: 'NAME=WEIGHT:WHAT',
  },
  scenario: {
    kind: 'text',
    group,
    brief: 'Both lengths in one: D(900,200), N(900,100)/(200,20) mean and sd, U(100,900)/(50,200)',
    placeholder: 'TEXT',
    aliases: ['traffic-scenario'],
  },
  'prefix-hit-rate': {
    kind: 'text',
    group,
    brief: 'Share of each prompt that all prompts begin with, which a warm prefix cache hits: 60%',
    placeholder: 'SHARE',
  },
  'shared-prefix': {
    kind: 'text',
    group,
    brief: 'Or the tokens that all prompts begin with',
    placeholder: 'N',
    aliases: ['random-prefix-len', 'prefix-prompt-length'],
  },
  prompt: {
    kind: 'text',
    group,
    brief: 'Prompt tokens: 900, "uniform 100..200", "normal 500 sd 50", "lognormal median 900 p99 4096"',
    placeholder: 'LENGTH',
    aliases: ['random-input-len', 'input-len', 'isl'],
    default: '512',
  },
  output: {
    kind: 'text',
    group,
    brief: 'Answer tokens, in the same forms',
    placeholder: 'LENGTH',
    aliases: ['random-output-len', 'output-len', 'osl', 'sharegpt-output-len', 'custom-output-len'],
    default: '128',
  },
  'random-range-ratio': {
    kind: 'text',
    group,
    brief: 'Spread fixed lengths evenly by this share to both sides',
    placeholder: 'R',
  },
  turns: {
    kind: 'text',
    group,
    brief:
      'Requests of a session, each sending all that was said before it; a rate is then of sessions, --prompt what each turn adds',
    placeholder: 'N',
    default: '1',
  },
  'turn-think': {
    kind: 'text',
    group,
    brief: 'From an answer to the next turn of its session: 2s, or "exponential 2s"',
    placeholder: 'TIME',
    default: '0',
  },
  'cancel-rate': {
    kind: 'text',
    group,
    brief: 'Share of the requests that the client hangs up on; they are counted apart',
    placeholder: 'SHARE',
    aliases: ['request-cancellation-rate'],
  },
  'cancel-after': {
    kind: 'text',
    group,
    brief: 'When it does, after the intended send',
    placeholder: 'TIME',
    aliases: ['request-cancellation-delay'],
    default: '0',
  },
  'ignore-eos': {
    kind: 'switch',
    group,
    brief: 'Ask for answers of exactly the length (on for random; --no-ignore-eos lets the model stop)',
  },
  'extra-body': {
    kind: 'text',
    group,
    brief: 'JSON object whose fields are added to every request',
    placeholder: 'JSON',
    aliases: ['extra-request-body'],
  },
  'body-template': {
    kind: 'text',
    group,
    brief:
      'JSON file that is the body of every request, with placeholders: {{prompt}}, {{max_tokens}}, {{row.FIELD}} (docs/traffic.md)',
    placeholder: 'FILE',
  },
  temperature: { kind: 'text', group, brief: 'Sampling temperature', placeholder: 'T' },
  'top-p': { kind: 'text', group, brief: 'Nucleus of sampling', placeholder: 'P' },
  'top-k': { kind: 'text', group, brief: 'Candidates of sampling', placeholder: 'K', hidden: true },
  'min-p': { kind: 'text', group, brief: 'Least probability of sampling', placeholder: 'P', hidden: true },
  tokenizer: {
    kind: 'text',
    group,
    brief: 'A tokenizer.json or a SentencePiece tokenizer.model; else the server counts',
    placeholder: 'PATH',
  },
  seed: {
    kind: 'text',
    group,
    brief: 'The same seed makes the same plan',
    placeholder: 'TEXT',
    default: '1',
    aliases: ['random-seed'],
  },
  salt: {
    kind: 'text',
    group,
    brief: 'Text that keeps prompts out of the prefix cache; fresh each run unless given',
    placeholder: 'TEXT',
  },
  'warm-prefix': { kind: 'switch', group, brief: 'No salt: let the prefix cache hit' },
}
