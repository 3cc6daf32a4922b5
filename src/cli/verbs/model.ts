import { PlimsollError } from '../../base/errors.ts'
import type { ModelConfig, ModelOutcome } from '../../flows/model.ts'
import { nearest } from '../../base/edit-distance.ts'
import { fits } from '../../report/model-document.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { printResult } from '../print-result.ts'
import type { FlagSpec, FlagSpecs, Invocation, Verb } from '../verb.ts'
import { modelMeasureVerb } from './model-measure.ts'

const output = {
  json: outputFlags['json']!,
  quiet: outputFlags['quiet']!,
  progress: outputFlags['progress']!,
}
const flag = (group: string, brief: string, placeholder: string, more: Partial<FlagSpec> = {}): FlagSpec => ({
  kind: 'text',
  group,
  brief,
  placeholder,
  ...more,
})

const engine = 'The engine'
const fitFlags: FlagSpecs = {
  gpu: flag(engine, 'Name of the GPU: with the model it bounds the fit by physics', 'NAME'),
  model: flag(engine, 'Name of the model', 'NAME'),
  gpus: flag(engine, 'GPUs of one replica', 'N', { default: '1' }),
  'max-num-seqs': flag(engine, 'Its seats', 'N', { default: '256' }),
  'max-num-batched-tokens': flag(engine, 'Tokens of one step', 'N', { default: '8192' }),
  'kv-tokens': flag(engine, 'Its KV pool', 'N', { default: 'as its metrics told in the runs' }),
  out: flag('Output', 'File of the model', 'FILE', { letter: 'o' }),
  force: { kind: 'switch', group: 'Output', brief: 'Write over a file that is there' },
  ...output,
}

const load = 'The load'
const predictFlags: FlagSpecs = {
  rate: flag(load, 'Requests a second, Poisson', 'RATE', { letter: 'r', aliases: ['request-rate'] }),
  prompt: flag(load, 'Length of prompts', 'LENGTH', {
    default: '1024',
    aliases: ['random-input-len'],
  }),
  output: flag(load, 'Length of answers', 'LENGTH', {
    default: '128',
    aliases: ['random-output-len'],
  }),
  tpot: flag(load, 'Limit on the mean TPOT: one more wall', 'TIME'),
  requests: flag(load, 'How many are simulated for each of the draws', 'N', { default: '1000' }),
  ...output,
}

const kinds = ['fit', 'measure', 'predict', 'score'] as const

const fitVerb: Verb = {
  brief: 'Fit a model of an engine to load tests',
  description:
    'Finds the step time of the engine that gives the TTFT and TPOT of these runs, by simulating each of them: the same requests, the same users. Says what each coefficient is known to, which cannot be told apart, and which measurement would tell most.',
  positional: { placeholder: 'RUN', brief: 'Run folders or sweep folders', minimum: 1 },
  examples: [
    ['plimsoll model fit runs/short-sweep runs/long-sweep --out model.json', 'two context lengths'],
    ["plimsoll model fit runs/sweep --gpu 'H100 SXM' --model Llama-3.1-8B", 'bounded by physics'],
  ],
  flags: fitFlags,
  run: (invocation) => model(invocation),
}

const predictVerb: Verb = {
  brief: 'Ask a fitted model about another load',
  description:
    'Walls by the mean field, latencies by simulation, with the interval that the fit leaves open. Near the wall it says how near, and no latency.',
  positional: { placeholder: 'MODEL', brief: 'File of model fit --out', minimum: 1, maximum: 2 },
  examples: [
    ['plimsoll model predict model.json --rate 8/s --prompt 2000 --output 200 --tpot 30ms', 'one load'],
  ],
  flags: predictFlags,
  run: (invocation) => model(invocation),
}

const scoreVerb: Verb = {
  brief: 'Compare a fitted model with a later measurement',
  description:
    'Foretells runs that the fit has not seen and says how far off it was and how often its intervals held.',
  positional: { placeholder: 'MODEL RUN', brief: 'File of model fit --out, then runs', minimum: 2 },
  examples: [['plimsoll model score model.json runs/later', 'one later run']],
  flags: output,
  run: (invocation) => model(invocation),
}

/** `plimsoll model fit | measure | predict | score`. */
export const modelVerb: Verb = {
  brief: 'A model of an engine',
  description:
    'measure: plans and runs the measurements, and fits them. fit: from load tests that are there. predict: another load. score: how good it was. Each has a help of its own: plimsoll model fit --help.',
  positional: { placeholder: 'KIND', brief: 'measure, fit, predict or score, and what it takes', minimum: 1 },
  examples: [
    ...modelMeasureVerb.examples,
    ...fitVerb.examples,
    ...predictVerb.examples,
    ...scoreVerb.examples,
  ],
  flags: { ...fitFlags, ...predictFlags },
  select(name) {
    if (name === 'measure') return modelMeasureVerb
    if (name === 'fit') return fitVerb
    if (name === 'predict') return predictVerb
    if (name === 'score') return scoreVerb
    const near = nearest(name, kinds)
    throw new PlimsollError('PLIM_USAGE', `plimsoll model cannot ${name}`, {
      expected: kinds.join(', '),
      ...(near === null ? {} : { hint: `did you mean ${near}?` }),
    })
  },
  run: () => Promise.resolve(exitCodes.usage),
}

async function model(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const { voiceOf } = await import('../voice.ts')
  const voice = voiceOf(invocation)
  const config = await configOf(flags, args)
  const document = await cli.flows.modelFlow(config, await cli.flowDeps(voice)).finally(voice.finish)
  const out = text(flags, 'out') ?? null
  if (out !== null) {
    const sink = await cli.openFile(out, { overwrite: isOn(flags, 'force') ?? false })
    await sink.write(`${JSON.stringify(document, null, 1)}\n`)
    await sink.close()
  }
  await printResult(document, invocation, async () => {
    const { typedWords } = await import('../flags/typed-words.ts')
    const typed = typedWords(invocation)
    return await rendered(document, { color: cli.stdout.color, typed }, out)
  })
  const isUnfit = document.schema === 'plimsoll.model/1' && !fits(document)
  return isUnfit ? exitCodes.invalid : exitCodes.fine
}

async function rendered(
  document: ModelOutcome,
  options: { readonly color: boolean; readonly typed: readonly string[] },
  out: string | null,
): Promise<string> {
  const { renderModel, renderPrediction, renderScore } = await import('../../report/model-text.ts')
  if (document.schema === 'plimsoll.model/1') return renderModel(document, options, out)
  if (document.schema === 'plimsoll.prediction/1') return renderPrediction(document, options)
  return renderScore(document, options)
}

async function configOf(flags: Invocation['flags'], args: readonly string[]): Promise<ModelConfig> {
  const { parseCount, parseDurationMs, parseRatePerSecond } = await import('../../base/units.ts')
  const [kind = '', ...rest] = args
  const count = (name: string): number | null => {
    const value = text(flags, name)
    return value === undefined ? null : parseCount(value, `--${name}`, 1)
  }
  if (kind === 'fit') {
    return {
      kind,
      paths: needed(rest, 1, 'a run folder'),
      gpu: text(flags, 'gpu') ?? null,
      model: text(flags, 'model') ?? null,
      gpus: count('gpus') ?? 1,
      maxNumSeqs: count('max-num-seqs'),
      maxNumBatchedTokens: count('max-num-batched-tokens'),
      kvTokens: count('kv-tokens'),
    }
  }
  if (kind === 'score') {
    const [path = '', ...runs] = needed(rest, 2, 'the file of a model or the run folder')
    return { kind, path, runs }
  }
  const [path = ''] = needed(rest, 1, 'the file of a model')
  const rate = text(flags, 'rate')
  if (rate === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'a prediction needs the load', {
      expected: '--rate, requests a second, as --rate 8/s',
    })
  }
  const tpot = text(flags, 'tpot')
  return {
    kind: 'predict',
    path,
    ratePerSecond: parseRatePerSecond(rate, '--rate'),
    prompt: text(flags, 'prompt') ?? '1024',
    output: text(flags, 'output') ?? '128',
    tpotLimitMs: tpot === undefined ? null : parseDurationMs(tpot, '--tpot'),
    requests: count('requests') ?? 1000,
  }
}

function needed(args: readonly string[], count: number, what: string): readonly string[] {
  if (args.length >= count) return args
  throw new PlimsollError('PLIM_USAGE', `${what} is missing`, {
    expected: 'plimsoll model measure URL | fit RUN… | predict MODEL --rate RATE | score MODEL RUN…',
  })
}
