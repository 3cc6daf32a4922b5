import { PlimsollError } from '../base/errors.ts'
import { backlogDuringStart } from '../operate/scale/policy.ts'
import { multiply, rational, toRational } from '../stats/rational.ts'
import type { PolicyDocument } from '../report/scale-documents.ts'
import { hpaManifest, kedaExternalManifest, kedaManifest, wvaManifest } from '../report/scale-manifests.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openSweep, planBasis } from './plan-basis.ts'
import { policyFacts, policyOf, scalerFacts, type PolicyConfig } from './scale-policy.ts'
import { signalsFlow } from './scale-signals.ts'

export interface PolicyFlowConfig extends PolicyConfig {
  readonly sweep: string
  readonly deployment: string
  readonly namespace: string
  readonly prometheusUrl: string
  readonly scalerAddress: string
  /** A run whose recorded signals the policy must not contradict, and the signal to scale on. */
  readonly signals: { readonly run: string; readonly on: string; readonly objective: string | null } | null
}

export interface PolicyOutcome {
  readonly document: PolicyDocument
}

/**
 * What a scaler is told, from the operating point of a sweep.
 * @throws PlimsollError PLIM_USAGE without an operating point, or for a signal that did not move in time.
 */
export async function policyFlow(config: PolicyFlowConfig, deps: FlowDeps): Promise<PolicyOutcome> {
  const sweep = await openSweep(config.sweep)
  const basis = planBasis(sweep)
  const policy = policyOf(sweep, config)
  if (basis === null || policy === null) {
    throw new PlimsollError('PLIM_USAGE', 'there is no operating point to scale on', {
      expected: 'a sweep in which some load keeps its objective',
      where: { file: config.sweep },
    })
  }
  await refuseDeafSignal(config, deps)
  const comments = [`Made by plimsoll ${deps.version} from ${config.sweep}.`, ...policy.working]
  const facts = scalerFacts(policy, sweep, { ...config, comments })
  const queue = Math.max(1, Math.floor(policy.targetInFlight / 4))
  const { coldStart } = config
  const backlog =
    coldStart === null
      ? null
      : backlogDuringStart(
          multiply(toRational(basis.requests_per_s), rational(3, 2)),
          basis.requests_per_s,
          coldStart.maxSeconds,
        )
  return {
    document: {
      schema: 'plimsoll.policy/1',
      plimsoll: deps.version,
      sweep: config.sweep,
      basis: { requests_per_s: basis.requests_per_s, kind: basis.kind },
      cold_start_s: coldStart === null ? null : [coldStart.minSeconds, coldStart.maxSeconds],
      ramp_per_s2: config.rampPerSecond,
      ...policyFacts(policy),
      backlog: backlog === null ? null : { waiting: backlog.waiting, wait_s: backlog.waitSeconds },
      manifests: {
        hpa: hpaManifest(facts),
        keda: kedaManifest(facts),
        'keda-external': kedaExternalManifest(facts, config.scalerAddress),
        wva: wvaManifest(facts, { queueLength: queue, queueSpare: Math.max(1, Math.ceil(queue / 2)) }),
      },
    },
  }
}

async function refuseDeafSignal(config: PolicyFlowConfig, deps: FlowDeps): Promise<void> {
  if (config.signals === null) return
  const { document } = await signalsFlow(
    {
      path: config.signals.run,
      objective: config.signals.objective,
      holdMs: 3000,
      coldStartMs: null,
      on: config.signals.on,
    },
    deps,
  )
  const refused = document.policy?.refused ?? null
  if (refused === null) return
  throw new PlimsollError('PLIM_USAGE', `a policy on ${config.signals.on} is refused`, {
    received: refused,
    ...(document.best === null ? {} : { hint: `${document.best} moved first: scale on it` }),
  })
}
