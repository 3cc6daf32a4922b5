import { PlimsollError } from '../../base/errors.ts'
import { parseCount } from '../../base/units.ts'
import type { PolicyFlowConfig } from '../../flows/scale-policy-flow.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, oneOf, text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { marginFlags, startFlags } from '../flags/plan-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import type { FlagValues, Invocation, Verb } from '../verb.ts'

const fleet = 'The fleet'
const format = 'What is written'
const ofAManifest = 'it is of a manifest: --format hpa, keda, keda-external or wva'
const formats = {
  text: 'text',
  hpa: 'hpa',
  keda: 'keda',
  'keda-external': 'keda-external',
  wva: 'wva',
  json: 'json',
} as const

export const scalePolicyVerb: Verb = {
  brief: 'What a scaler is told, from a sweep, the cold start and the ramp',
  description:
    'Requests in flight per replica to aim at, the level at which the next replica is ordered, the warm pool that a start slower than the ramp needs, and how slowly to scale down; as an HPA, a KEDA ScaledObject (with a fallback, never zero on silence), thresholds for WVA, or plain numbers.',
  positional: {
    placeholder: 'SWEEP',
    brief: 'A sweep; the newest in ./runs without it',
    minimum: 0,
    maximum: 2,
  },
  examples: [
    ['plimsoll scale policy runs/a --margin derate:20% --ramp 0.1/s/s --cold-start 40s', 'with the working'],
    [
      'plimsoll scale policy runs/a --weights 16GB --bandwidth 2GB/s --format keda',
      'a ScaledObject on stdout',
    ],
  ],
  flags: {
    ...marginFlags,
    ...startFlags,
    min: { kind: 'text', group: fleet, brief: 'Fewest replicas', placeholder: 'N', default: '1' },
    max: { kind: 'text', group: fleet, brief: 'Most replicas', placeholder: 'N', default: '10' },
    on: {
      kind: 'text',
      group: fleet,
      brief: 'The signal to scale on, checked against --run',
      placeholder: 'SIGNAL',
      default: 'waiting',
    },
    run: {
      kind: 'text',
      group: fleet,
      brief: 'A recorded run: a signal that did not move there is refused',
      placeholder: 'RUN',
    },
    slo: {
      kind: 'text',
      group: fleet,
      brief: 'The limit that was missed in it',
      placeholder: 'TEXT',
      idle: 'it is of a run that was recorded: --run RUN',
    },
    format: {
      kind: 'text',
      group: format,
      brief: 'text, hpa, keda, keda-external, wva or json',
      placeholder: 'FORMAT',
      letter: 'f',
      default: 'text',
    },
    deployment: {
      kind: 'text',
      group: format,
      brief: 'Name of the Deployment',
      placeholder: 'NAME',
      default: 'llm',
      idle: ofAManifest,
    },
    namespace: {
      kind: 'text',
      group: format,
      brief: 'Its namespace',
      placeholder: 'NAME',
      default: 'default',
      idle: ofAManifest,
    },
    'prometheus-url': {
      kind: 'text',
      group: format,
      brief: 'For the ScaledObject',
      placeholder: 'URL',
      default: 'http://prometheus.monitoring.svc:9090',
      idle: ofAManifest,
    },
    'scaler-address': {
      kind: 'text',
      group: format,
      brief: 'Where plimsoll scale serve listens',
      placeholder: 'HOST:PORT',
      default: 'plimsoll-scaler.default.svc:6000',
      idle: ofAManifest,
    },
    json: outputFlags['json']!,
    quiet: outputFlags['quiet']!,
  },
  run: policy,
}

async function policy({ flags, given, args, cli }: Invocation): Promise<ExitCode> {
  const [sweep] = await pathsOrNewest(args.slice(1), cli)
  const wanted = oneOf(text(flags, 'format') ?? 'text', '--format', formats)
  const [{ readMargin, readStart }, { renderPolicy }, { noticesOf }] = await Promise.all([
    import('../flags/read-plan-flags.ts'),
    import('../../report/scale-screen.ts'),
    import('../voice.ts'),
  ])
  const margin = readMargin(text(flags, 'margin') ?? '0')
  if (margin.kind === 'unsaid') {
    throw new PlimsollError('PLIM_USAGE', 'a margin is read in two ways: say which', {
      expected: '--margin derate:20% or --margin uplift:20%',
    })
  }
  const voice = noticesOf({ flags, cli })
  // The document holds every manifest, the text none.
  const isText = wanted === 'text' && isOn(flags, 'json') !== true
  const written = (name: string): string | undefined => (isText ? undefined : text(flags, name))
  const config: PolicyFlowConfig = {
    sweep: sweep ?? '',
    margin: { share: margin.share, kind: margin.kind },
    ...readStart(flags),
    ...readFleet(flags),
    deployment: written('deployment') ?? 'llm',
    namespace: written('namespace') ?? 'default',
    prometheusUrl: written('prometheus-url') ?? 'http://prometheus.monitoring.svc:9090',
    scalerAddress: written('scaler-address') ?? 'plimsoll-scaler.default.svc:6000',
  }
  const { document } = await cli.flows.policyFlow(config, await cli.flowDeps(voice))
  if (isOn(flags, 'json') === true || wanted === 'json') cli.stdout.write(`${JSON.stringify(document)}\n`)
  else if (wanted === 'text') {
    const { typedWords } = await import('../flags/typed-words.ts')
    // The newest sweep may be another by then.
    const typed = typedWords({ given, args: ['policy', document.sweep] })
    cli.stdout.say(renderPolicy(document, { color: cli.stdout.color, typed }))
  } else cli.stdout.write(document.manifests[wanted] ?? '')
  return exitCodes.fine
}

function readFleet(flags: FlagValues): Pick<PolicyFlowConfig, 'minReplicas' | 'maxReplicas' | 'signals'> {
  const minReplicas = parseCount(text(flags, 'min') ?? '1', '--min', 1)
  const maxReplicas = parseCount(text(flags, 'max') ?? '10', '--max', 1)
  if (maxReplicas < minReplicas) {
    throw new PlimsollError('PLIM_USAGE', '--max is under --min', {
      received: `${maxReplicas} and ${minReplicas}`,
    })
  }
  const run = text(flags, 'run')
  const on = text(flags, 'on')
  if (on !== undefined && run === undefined) {
    throw new PlimsollError('PLIM_USAGE', '--on needs a run in which the signal was recorded', {
      expected: '--run RUN',
      hint: 'plimsoll watch --record makes one',
    })
  }
  return {
    minReplicas,
    maxReplicas,
    signals: run === undefined ? null : { run, on: on ?? 'waiting', objective: text(flags, 'slo') ?? null },
  }
}
