import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { clientFlags } from '../flags/client-flags.ts'
import { enginePassFlags } from '../flags/engine-pass-flags.ts'
import { configFlags, folderFlags, outputFlags } from '../flags/output-flags.ts'
import { idleFlags, pickFlags } from '../flags/pick-flags.ts'
import { targetFlags } from '../flags/target-flags.ts'
import { workloadFlags } from '../flags/workload-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { FlagSpecs, Invocation, Verb } from '../verb.ts'

const group = 'What to measure'

const prefillFlags: FlagSpecs = {
  lengths: {
    kind: 'text',
    group,
    brief: 'Prompt lengths in tokens',
    placeholder: 'LIST',
    default: '128, 256, 384, … 8,192, as far as the model goes',
    idle: 'it is of a measurement, and points are read instead',
  },
  repeats: {
    kind: 'text',
    group,
    brief: 'Requests of each length; the median counts',
    placeholder: 'N',
    default: '5',
    idle: 'it is of a measurement, and points are read instead',
  },
  chunk: {
    kind: 'text',
    group,
    brief: 'Most prompt tokens in a step (--max-num-batched-tokens of the server), to look for its steps',
    placeholder: 'N',
    default: 'powers of two are tried',
  },
  points: {
    kind: 'list',
    manyValues: true,
    group,
    brief: 'Points instead of a measurement: 256:23ms 8000:280ms',
    placeholder: 'TOKENS:TTFT',
  },
}

const workload = pickFlags(workloadFlags, ['extra-body', 'tokenizer', 'seed', 'salt', 'warm-prefix'])
// One request at a time takes one thread, and without a stream there is no first token.
const { workers: _workers, ...oneClient } = clientFlags
const { 'no-stream': _noStream, 'kv-tokens': _kvTokens, ...streamedTarget } = targetFlags
const ofAMeasurement = 'it is of a measurement, and points are read instead'

export const prefillVerb: Verb = {
  brief: 'TTFT against prompt length',
  description:
    'Asks prompts of rising length, one at a time, one token each, and separates what grows with the prompt (the prefill rate) from what every request pays (the fixed cost). Without --url the embedded engine is started and loaded. A file of points is read instead: prompt tokens and TTFT in ms on each line.',
  positional: { placeholder: 'FILE', brief: 'A file of points', minimum: 0, maximum: 1 },
  examples: [
    ['plimsoll prefill', 'the embedded engine'],
    ['plimsoll prefill -u http://localhost:8000 --lengths 256,1k,4k,8k --repeats 7', 'these lengths'],
    ['plimsoll prefill --points 256:23ms 8000:280ms --explain', 'two points, with the working'],
    ['plimsoll prefill points.csv --chunk 2048', 'points from elsewhere'],
  ],
  flags: {
    ...idleFlags(streamedTarget, ofAMeasurement),
    ...prefillFlags,
    ...idleFlags({ ...workload, ...oneClient, ...folderFlags }, ofAMeasurement),
    ...outputFlags,
    ...idleFlags({ ...configFlags, ...enginePassFlags }, ofAMeasurement),
  },
  run: prefill,
}

async function prefill(invocation: Invocation): Promise<ExitCode> {
  const { cli } = invocation
  const { preparePrefill } = await import('../prepare-prefill.ts')
  const { config, voice } = await preparePrefill(invocation)
  try {
    const { document, interrupted } = await cli.flows.prefillFlow(config, await cli.flowDeps(voice))
    voice.finish()
    await printResult(document, invocation, async () => {
      const { renderPrefill } = await import('../../report/prefill-text.ts')
      return renderPrefill(document, reportOptions(invocation))
    })
    return interrupted ? exitCodes.interrupted : exitCodes.fine
  } finally {
    voice.finish()
  }
}
