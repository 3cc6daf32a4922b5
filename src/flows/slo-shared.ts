import type { PolicyText } from '../operate/slo/policy.ts'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import type { SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational } from '../stats/rational.ts'
import type { SloPolicySection, SloSection } from './options/slo-section.ts'

/** What the command line says over the files. */
export interface SloOverrides {
  readonly policy?: string
  readonly engine?: SloSection['engine']
  readonly edges?: SloSpec['edges']
  readonly unreachable?: SloSpec['unreachable']
}

type SharedKeys =
  | 'labels'
  | 'policy'
  | 'minBad'
  | 'minRequests'
  | 'edges'
  | 'unreachable'
  | 'intervalSeconds'
  | 'file'

/** What all objectives of a file have in common. */
export function shared(
  section: SloSection,
  overrides: SloOverrides,
  file: string,
): Pick<SloSpec, SharedKeys> {
  return {
    labels: section.labels ?? {},
    policy: overrides.policy ?? policyOf(section.policy),
    minBad: section.min_bad ?? 3,
    minRequests: section.min_requests ?? 0,
    edges: overrides.edges ?? section.edges ?? 'refuse',
    unreachable: overrides.unreachable ?? section.unreachable ?? 'refuse',
    intervalSeconds: readPromSeconds(section.interval ?? '30s', 'slo.interval'),
    file,
  }
}

function policyOf(policy: string | SloPolicySection | undefined): string | PolicyText {
  if (policy === undefined || typeof policy === 'string') return policy ?? 'sre-workbook'
  return { name: policy.name, comparator: policy.comparator ?? '>', alerts: policy.alerts }
}

/** 0.995 is `99.5%`. */
export function percentOf(share: string): string {
  const { num, den } = parseRational(share)
  const percent = parseRational(`${num * 100n}/${den}`)
  let digits = 0
  while (digits < 20 && (percent.num * 10n ** BigInt(digits)) % percent.den !== 0n) digits++
  const scaled = (percent.num * 10n ** BigInt(digits)) / percent.den
  const text = scaled.toString().padStart(digits + 1, '0')
  return digits === 0 ? `${text}%` : `${text.slice(0, -digits)}.${text.slice(-digits)}%`
}
