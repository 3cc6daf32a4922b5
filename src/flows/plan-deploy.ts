import { makeFolders } from '../measure/record/make-folders.ts'
import { readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { replicasToSurvive } from '../plan/fleet-size.ts'
import { retryAfterRange } from '../plan/retry-after.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { PlanDocument } from '../report/plan-document.ts'
import { renderCapacityPage } from '../report/plan-page.ts'
import { renderSimulationPage } from '../report/plan-simulation-page.ts'
import {
  hpaManifest,
  kedaExternalManifest,
  kedaManifest,
  wvaManifest,
  type ScalerFacts,
} from '../report/scale-manifests.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { PlanConfig } from './plan-config.ts'
import { sloDeployFiles } from './plan-slo.ts'
import { policyFacts, policyOf, scalerFacts } from './scale-policy.ts'

/** So that clients who were refused together do not come back together. */
const retryJitter = 0.25

export interface DeployInput {
  readonly document: PlanDocument
  readonly sweep: SweepDocument
  readonly config: PlanConfig
  readonly force: boolean
  readonly deps: FlowDeps
}

/**
 * Writes everything that an operating point turns into: capacity page, SLO rules with their tests, scalers, engine flags, gateway limits.
 * The names of the files come back, relative to the folder.
 * @throws PlimsollError PLIM_FILE for a folder that holds something already, unless `force`.
 */
export async function writeDeployFolder(folder: string, input: DeployInput): Promise<readonly string[]> {
  if (!input.force) await refuseFull(folder)
  const files = new Map<string, string>([
    ...scalerFiles(input),
    ...limitFiles(input),
    ...sloDeployFiles(input),
    ...simulationFiles(input),
  ])
  const names = ['capacity.md', 'plan.json', ...files.keys()].sort()
  const document = { ...input.document, files: names, out: folder }
  files.set('capacity.md', renderCapacityPage(document))
  files.set('plan.json', `${JSON.stringify(document, null, 2)}\n`)
  for (const [name, text] of files) {
    const path = join(folder, name)
    try {
      await makeFolders(dirname(path))
      await writeFile(path, text)
    } catch (cause) {
      throw new PlimsollError('PLIM_FILE', `${path} cannot be written`, {
        received: (cause as Error).message,
        cause,
      })
    }
  }
  return names
}

async function refuseFull(folder: string): Promise<void> {
  const held = await readdir(folder).catch((): string[] => [])
  if (held.length === 0) return
  throw new PlimsollError(
    'PLIM_FILE',
    `${folder} holds ${held.length} ${noun(held.length, 'file')} already`,
    {
      expected: 'an empty folder, or one that is not there',
      hint: '--force writes over them',
    },
  )
}

function scalerFiles({ document, sweep, config }: DeployInput): readonly (readonly [string, string])[] {
  const [best] = document.candidates
  const reading = best?.readings.find(({ margin_kind }) => margin_kind === best.chosen)
  const kind = best?.chosen ?? null
  if (reading === undefined || kind === null) return []
  const replicas =
    document.classes.length === 0 ? reading.replicas : (document.shared_replicas ?? reading.replicas)
  const policy = policyOf(sweep, {
    margin: { share: config.margin.share, kind },
    rampPerSecond: config.rampPerSecond,
    coldStart: config.coldStart,
    minReplicas: replicasToSurvive(1, config),
    maxReplicas: replicas,
  })
  if (policy === null) return []
  const comments = [
    `Made by plimsoll ${document.plimsoll} from ${document.provenance?.sweep ?? 'a sweep'}; it holds until ${document.provenance?.expires_at?.slice(0, 10) ?? 'the next change'}.`,
    ...policy.working,
  ]
  const facts: ScalerFacts = scalerFacts(policy, sweep, {
    deployment: 'llm',
    namespace: 'default',
    prometheusUrl: 'http://prometheus.monitoring.svc:9090',
    comments,
  })
  const queue = Math.max(1, document.limits?.max_queued ?? 5)
  return [
    ['scaler/hpa.yaml', hpaManifest(facts)],
    ['scaler/keda.yaml', kedaManifest(facts)],
    ['scaler/keda-external.yaml', kedaExternalManifest(facts, 'plimsoll-scaler.default.svc:6000')],
    [
      'scaler/wva.yaml',
      wvaManifest(facts, { queueLength: queue, queueSpare: Math.max(1, Math.ceil(queue / 2)) }),
    ],
    ['scaler/policy.json', `${JSON.stringify(policyFacts(policy), null, 2)}\n`],
  ]
}

/** A whole number of seconds drawn between the two for each answer: never past what clients believe. */
function retryAfter(seconds: number): { readonly from: string; readonly to: string } {
  const { from, to } = retryAfterRange(seconds, retryJitter)
  return { from: `${from}s`, to: `${to}s` }
}

function simulationFiles({ document }: DeployInput): readonly (readonly [string, string])[] {
  return document.simulation === null
    ? []
    : [['simulation.md', renderSimulationPage(document, document.simulation)]]
}

function limitFiles({ document }: DeployInput): readonly (readonly [string, string])[] {
  const { limits } = document
  if (limits === null) return []
  const flags = Object.entries(limits.flags)
    .map(([engine, list]) => `${engine}\n${list.map((flag) => `  ${flag}\n`).join('')}`)
    .join('\n')
  const gateway = {
    limits: {
      per_replica: {
        max_running: limits.max_running,
        ...(limits.max_queued === null ? {} : { max_queued: limits.max_queued }),
        ...(limits.max_wait_ms === null ? {} : { max_wait: `${Math.round(limits.max_wait_ms)}ms` }),
        ...(limits.max_queued_tokens === null ? {} : { max_queued_tokens: limits.max_queued_tokens }),
      },
      beyond: {
        status: 429,
        ...(limits.retry_after_s === null ? {} : { retry_after: retryAfter(limits.retry_after_s) }),
      },
    },
  }
  const why = Object.entries(limits.why)
    .map(([what, text]) => `# ${what}: ${text}\n`)
    .join('')
  return [
    ['engine-flags.txt', flags],
    ['gateway.yaml', why + stringify(gateway)],
  ]
}
