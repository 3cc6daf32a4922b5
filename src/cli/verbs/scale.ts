import { PlimsollError } from '../../base/errors.ts'
import { nearest } from '../../base/edit-distance.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Verb } from '../verb.ts'
import { scalePolicyVerb } from './scale-policy.ts'
import { scaleServeVerb } from './scale-serve.ts'
import { scaleSignalsVerb } from './scale-signals.ts'

const parts: Readonly<Record<string, Verb>> = {
  signals: scaleSignalsVerb,
  policy: scalePolicyVerb,
  serve: scaleServeVerb,
}

/** The three parts of scaling; `plimsoll scale NAME …` is the verb of that name. */
export const scaleVerb: Verb = {
  brief: 'Signals, policies, and a scaler',
  description:
    'signals: which recorded signal moved before the objective was missed. policy: what a scaler is told, from a sweep, the cold start and the ramp. serve: an external scaler for KEDA that holds on silence.',
  positional: { placeholder: 'PART', brief: 'signals, policy or serve', minimum: 0 },
  examples: [
    ['plimsoll scale', 'the list'],
    ['plimsoll scale signals runs/a', 'what to scale on'],
    [
      'plimsoll scale policy runs/a --ramp 0.1/s/s --weights 16GB --bandwidth 2GB/s',
      'the target, with its working',
    ],
    ['plimsoll scale serve --url http://localhost:8000 --target 20', 'for KEDA'],
  ],
  flags: {},
  select: (name) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined
    if (part !== undefined) return part
    const near = nearest(name, Object.keys(parts))
    throw new PlimsollError('PLIM_USAGE', `scale has no part ${name}`, {
      expected: Object.keys(parts).join(', '),
      ...(near === null ? {} : { hint: `did you mean plimsoll scale ${near}?` }),
    })
  },
  run({ cli }) {
    for (const [name, { brief }] of Object.entries(parts))
      cli.stdout.say(`  plimsoll scale ${name.padEnd(8)} ${brief}\n`)
    cli.stdout.say(
      '  plimsoll calc NAME      What an autoscaler does with a reading: hpa, keda, kpa, ray, wva, dynamo\n',
    )
    return Promise.resolve(exitCodes.fine)
  },
}
