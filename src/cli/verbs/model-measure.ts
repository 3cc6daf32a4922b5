import { PlimsollError } from '../../base/errors.ts'
import type { ModelDocument } from '../../report/model-document.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { isOn, text } from '../flags/flag-values.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { FlagSpecs, Invocation, Verb } from '../verb.ts'

const group = 'What is to be known'
const engine = 'The engine'

const ownFlags: FlagSpecs = {
  wall: {
    kind: 'text',
    group,
    brief: 'Which wall: capacity (the one that binds), slo, memory or saturation',
    placeholder: 'WALL',
    default: 'capacity',
  },
  prompt: {
    kind: 'text',
    group,
    brief: 'Length of prompts of the load that it is asked for',
    placeholder: 'LENGTH',
    default: '1024',
    aliases: ['random-input-len'],
  },
  output: {
    kind: 'text',
    group,
    brief: 'Length of answers',
    placeholder: 'LENGTH',
    default: '128',
    aliases: ['random-output-len'],
  },
  tpot: { kind: 'text', group, brief: 'Limit on the mean TPOT: the SLO wall', placeholder: 'TIME' },
  within: {
    kind: 'text',
    group,
    brief: 'Half width of its 90 % interval that is enough',
    placeholder: 'SHARE',
    default: '5%',
  },
  points: { kind: 'text', group, brief: 'At most this many measurements', placeholder: 'N', default: '16' },
  'max-duration': {
    kind: 'text',
    group,
    brief: 'At most this long, the fits between included',
    placeholder: 'TIME',
    default: '110s',
  },
  gpu: {
    kind: 'text',
    group: engine,
    brief: 'Name of the GPU: with --model it bounds the fit by physics',
    placeholder: 'NAME',
  },
  gpus: { kind: 'text', group: engine, brief: 'GPUs of one replica', placeholder: 'N', default: '1' },
  'max-num-seqs': { kind: 'text', group: engine, brief: 'Its seats', placeholder: 'N', default: '256' },
  'max-num-batched-tokens': {
    kind: 'text',
    group: engine,
    brief: 'Tokens of one step',
    placeholder: 'N',
    default: '8192',
  },
  out: {
    kind: 'text',
    group: 'Output',
    brief: 'File of the model, beside the one in the folder of the runs',
    placeholder: 'FILE',
    letter: 'o',
  },
  force: { kind: 'switch', group: 'Output', brief: 'Write over a file that is there' },
}

// Its own loads take one thread, and a model needs the first token.
const { workers: _workers, ...oneClient } = clientFlags
const { 'no-stream': _noStream, ...streamedTarget } = targetFlags

const picked = (from: FlagSpecs, names: readonly string[]): FlagSpecs =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))

/** `plimsoll model measure [URL]`. */
export const modelMeasureVerb: Verb = {
  brief: 'Measure an engine for a model of it',
  description:
    'Measures one user with prompts of several lengths and several users at two lengths of context, fits, and then chooses each next load so that the asked wall becomes known best. Ends when its interval is narrow enough. Every point is a run folder; the model is what model predict and plan --simulate take. Without an address the embedded engine is started and measured.',
  positional: { placeholder: 'measure URL', brief: 'The server', minimum: 1, maximum: 2 },
  examples: [
    ['plimsoll model measure http://localhost:8000 --tpot 30ms --out model.json', 'how much it carries'],
    ['plimsoll model measure --wall saturation --within 3%', 'the embedded engine'],
  ],
  flags: {
    ...streamedTarget,
    ...ownFlags,
    ...picked(workloadFlags, ['extra-body', 'tokenizer', 'seed', 'salt']),
    ...oneClient,
    ...picked(folderFlags, ['name', 'runs-dir']),
    ...picked(outputFlags, ['json', 'quiet', 'progress']),
    ...configFlags,
    ...enginePassFlags,
  },
  run: measure,
}

async function measure(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const { prepareMeasure } = await import('../prepare-measure.ts')
  const { config, voice } = await prepareMeasure(invocation, args[1] ?? null)
  try {
    const { document, model } = await cli.flows.measureModel(config, await cli.flowDeps(voice))
    voice.finish()
    const out = text(flags, 'out') ?? null
    const unwritten = out === null ? null : await writeModel(out, model, invocation)
    await printResult(document, invocation, async () => {
      const { renderMeasurement } = await import('../../report/measurement-text.ts')
      return renderMeasurement(document, reportOptions(invocation), unwritten === null ? out : null)
    })
    // It took its time to measure: it is told first.
    if (unwritten !== null) throw unwritten
    return document.ended === 'interrupted' ? exitCodes.interrupted : exitCodes.fine
  } finally {
    voice.finish()
  }
}

/** Null, or the error of a file that could not be written. */
async function writeModel(
  path: string,
  model: ModelDocument,
  { flags, cli }: Invocation,
): Promise<PlimsollError | null> {
  try {
    const sink = await cli.openFile(path, { overwrite: isOn(flags, 'force') ?? false })
    try {
      await sink.write(`${JSON.stringify(model, null, 1)}\n`)
    } finally {
      await sink.close()
    }
    return null
  } catch (error) {
    if (error instanceof PlimsollError) return error
    throw error
  }
}
