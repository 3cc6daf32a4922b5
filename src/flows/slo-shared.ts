import { PlimsollError, type TextPosition } from '../base/errors.ts'
import { placed } from '../base/placed.ts'
import type { YamlPath } from '../base/positioned-yaml.ts'
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
  readonly histograms?: SloSpec['histograms']
}

type SharedKeys =
  | 'labels'
  | 'policy'
  | 'minBad'
  | 'minRequests'
  | 'edges'
  | 'histograms'
  | 'buckets'
  | 'unreachable'
  | 'intervalSeconds'
  | 'file'

/** What all objectives of a file have in common. */
export function shared(
  section: SloSection,
  overrides: SloOverrides,
  { file, where }: { readonly file: string; readonly where: (path: YamlPath) => TextPosition },
): Pick<SloSpec, SharedKeys> {
  return {
    labels: section.labels ?? {},
    policy: overrides.policy ?? policyOf(section.policy),
    minBad: section.min_bad ?? 3,
    minRequests: section.min_requests ?? 0,
    edges: overrides.edges ?? section.edges ?? 'refuse',
    histograms: overrides.histograms ?? section.histograms ?? 'classic',
    buckets: bucketsOf(section.buckets ?? {}, where),
    unreachable: overrides.unreachable ?? section.unreachable ?? 'refuse',
    intervalSeconds: placed(
      () => where(['interval']),
      () => readPromSeconds(section.interval ?? '30s', 'slo.interval'),
    ),
    file,
  }
}

function policyOf(policy: string | SloPolicySection | undefined): string | PolicyText {
  if (policy === undefined || typeof policy === 'string') return policy ?? 'sre-workbook'
  return { name: policy.name, comparator: policy.comparator ?? '>', alerts: policy.alerts }
}

/** Bounds as exact texts. Throws PLIM_CONFIG for those that do not rise from above 0. */
function bucketsOf(
  buckets: NonNullable<SloSection['buckets']>,
  where: (path: YamlPath) => TextPosition,
): SloSpec['buckets'] {
  return Object.fromEntries(
    Object.entries(buckets).map(([metric, bounds]) => {
      const texts = bounds.map(String)
      const rises = bounds.every((bound, at) => bound > (at === 0 ? 0 : (bounds[at - 1] ?? 0)))
      if (rises) return [metric, texts]
      throw new PlimsollError('PLIM_CONFIG', `the buckets of ${metric} do not rise`, {
        expected: 'bounds in seconds from the smallest to the largest, such as [0.1, 0.25, 0.5, 1]',
        received: texts.join(', '),
        where: where(['buckets', metric]),
      })
    }),
  )
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
