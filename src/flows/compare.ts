import { PlimsollError } from '../base/errors.ts'
import type { Warning } from '../base/warnings.ts'
import type { CompareRules } from '../judge/compare-metric.ts'
import { orderFindings, type OrderFindings } from '../judge/compare-order.ts'
import { pairRuns, type Pairing } from '../judge/compare-pairs.ts'
import { lengthConfounded, pseudoReplication } from '../judge/traps.ts'
import type { LatencyParts } from '../measure/metrics/decompose-latency.ts'
import type { CompareDocument, ComparedArm, ComparedMetric } from '../report/compare-document.ts'
import type { RunDocument } from '../report/documents.ts'
import { mean } from '../stats/describe.ts'
import { againOfRuns } from './compare-again.ts'
import { sharedRuns } from './compare-shared.ts'
import { matchLoads, readArm, type ArmRun } from './compare-arms.ts'
import { comparedFigures, type ComparedFigure } from './compare-figures.ts'
import { judgeTogether, type Candidate } from './compare-judge.ts'
import { compareResidue } from './compare-residue.ts'

export interface CompareSettings extends CompareRules {
  /** Metrics to compare, the primary among them. */
  readonly metrics: readonly string[]
  /** Null: the first of the metrics that the runs have. */
  readonly primary: string | null
}

export interface ArmPaths {
  readonly name: string
  readonly paths: readonly string[]
}

/**
 * Compares two arms of runs.
 * @throws PlimsollError PLIM_RUN_FOLDER for a run that cannot be read, PLIM_USAGE where nothing is left to compare.
 */
export async function compareRuns(
  arms: { readonly a: ArmPaths; readonly b: ArmPaths },
  settings: CompareSettings,
  version: string,
): Promise<CompareDocument> {
  const { a, b } = arms
  const shared = await sharedRuns(a.paths, b.paths)
  const document = compareArms(
    {
      a: { name: a.name, runs: await readArm(a.paths) },
      b: { name: b.name, runs: await readArm(b.paths) },
    },
    settings,
    version,
    'runs',
  )
  return shared === null ? document : { ...document, warnings: [shared, ...document.warnings] }
}

/** Compares two arms whose runs are in memory. */
export function compareArms(
  arms: Record<'a' | 'b', { readonly name: string; readonly runs: readonly ArmRun[] }>,
  settings: CompareSettings,
  version: string,
  kind: 'runs' | 'interleaved',
): CompareDocument {
  const [allA, allB] = [arms.a.runs, arms.b.runs]
  const { a, b, leftOut } = usable(matchLoads(allA, allB), matchLoads(allB, allA))
  const pairing = pairRuns(a.map(pairingOf), b.map(pairingOf))
  const ordered =
    pairing.kind === 'paired'
      ? { a: pairing.indices.map(([i]) => a[i]!), b: pairing.indices.map(([, j]) => b[j]!) }
      : { a, b }
  const { metrics, notCompared } = compareAll(ordered, pairing, settings)
  const primary = metrics.find((metric) => metric.primary)
  const again = kind === 'runs' ? againOfRuns(a, b, settings) : null
  const order = primary === undefined ? null : orderOf(ordered, primary)
  return {
    schema: 'plimsoll.compare/1',
    plimsoll: version,
    kind,
    arms: { a: armOf(arms.a.name, a, leftOut.a), b: armOf(arms.b.name, b, leftOut.b) },
    design: {
      paired_by:
        pairing.kind === 'unpaired' ? null : a.some(({ load }) => load !== null) ? 'load' : pairing.by,
      why: pairing.why,
      alpha: settings.alpha,
      margin: settings.margin,
      power: settings.power,
      primary: primary?.metric ?? settings.primary ?? '',
    },
    metrics,
    not_compared: notCompared,
    order,
    residue: compareResidue(a, b),
    regression: metrics.some(({ regression }) => regression),
    warnings: [...replication(a, b), ...confounded(a, b)],
    ...(again === null ? {} : { again }),
  }
}

/** What is used of the two arms, and why the rest is not: figures that the client made, and loads that only one arm has. */
function usable(
  a: readonly ArmRun[],
  b: readonly ArmRun[],
): {
  readonly a: readonly ArmRun[]
  readonly b: readonly ArmRun[]
  readonly leftOut: { readonly a: ComparedArm['left_out']; readonly b: ComparedArm['left_out'] }
} {
  // Blocks and loads are matched: a run whose partner cannot be used is of no use either.
  const matched = [...a, ...b].every(({ block }) => block !== null)
  const blocks = [a, b].map((arm) => new Set(arm.filter(isUsable).map(({ block }) => block)))
  const why = (run: ArmRun, others: ReadonlySet<string | null>): string | null => {
    if (!isUsable(run)) {
      const { reasons } = run.document.verdict
      return `INVALID: ${reasons.find(({ status }) => status === 'INVALID')?.message ?? 'its figures are the client’s'}`
    }
    if (!matched || others.has(run.block)) return null
    return run.load === null
      ? `block ${run.block ?? ''} has no usable run in the other arm`
      : `${run.block ?? run.load} is in one arm only`
  }
  const split = (arm: readonly ArmRun[], others: ReadonlySet<string | null>) => ({
    used: arm.filter((run) => why(run, others) === null),
    left: arm.flatMap((run) => {
      const reason = why(run, others)
      return reason === null ? [] : [{ path: run.path, why: reason }]
    }),
  })
  const first = split(a, blocks[1]!)
  const second = split(b, blocks[0]!)
  const usableRuns = [a, b].map((arm) => arm.filter(isUsable))
  const [inA, inB] = usableRuns.map((arm) => [...new Set(arm.flatMap(({ load }) => load ?? []))])
  if (usableRuns.every((arm) => arm.length > 0) && first.used.length === 0 && inA!.length > 0) {
    throw new PlimsollError('PLIM_USAGE', 'the two arms have no load in common', {
      expected: `a run of B at a load of A: ${inA!.join(', ')}`,
      received: inB!.join(', '),
      hint: 'what differs would be the load: plimsoll compare two sweeps, or two runs at one load',
    })
  }
  if (first.used.length === 0 || second.used.length === 0) {
    const [left] = first.used.length === 0 ? first.left : second.left
    throw new PlimsollError(
      'PLIM_STOPPED',
      `no run of ${first.used.length === 0 ? 'A' : 'B'} can be compared`,
      {
        received: left === undefined ? 'no runs' : `${left.path}: ${left.why}`,
        hint: 'plimsoll show RUN says what made a run invalid',
      },
    )
  }
  return { a: first.used, b: second.used, leftOut: { a: first.left, b: second.left } }
}

function isUsable({ document }: ArmRun): boolean {
  return document.verdict.status !== 'INVALID'
}

function pairingOf({ block, manifest }: ArmRun): { readonly block: string | null; readonly seed: string } {
  return { block, seed: manifest.seed }
}

function armOf(name: string, runs: readonly ArmRun[], leftOut: ComparedArm['left_out']): ComparedArm {
  return {
    name,
    runs: runs.map(({ path, block, manifest, document }) => ({
      path,
      block,
      seed: manifest.seed,
      started_at: manifest.clock.started_at,
      verdict: document.verdict.status,
    })),
    left_out: leftOut,
  }
}

interface Arms {
  readonly a: readonly ArmRun[]
  readonly b: readonly ArmRun[]
}

function compareAll(
  { a, b }: Arms,
  pairing: Pairing,
  settings: CompareSettings,
): { readonly metrics: readonly ComparedMetric[]; readonly notCompared: CompareDocument['not_compared'] } {
  const notCompared: { metric: string; why: string }[] = []
  const candidates: Candidate[] = []
  for (const metric of settings.metrics) {
    const figure = comparedFigures.find((each) => each.metric === metric)
    if (figure === undefined) throw unknownMetric(metric, 'no run has it')
    const without = [...a, ...b].filter(({ document }) => figure.of(document) === null)
    const [one] = without
    if (one === undefined) candidates.push(candidateOf(figure, { a, b }, pairing))
    else {
      const reason = figure.why(one.document) ?? 'it is not known'
      notCompared.push({ metric, why: `${without.length} of ${a.length + b.length} runs: ${reason}` })
    }
  }
  const primary = settings.primary ?? candidates[0]?.metric ?? ''
  if (!candidates.some(({ metric }) => metric === primary)) {
    const why = notCompared.find(({ metric }) => metric === primary)?.why
    throw unknownMetric(primary, why ?? 'no metric is known of all runs')
  }
  return { metrics: judgeTogether(candidates, primary, settings), notCompared }
}

function unknownMetric(metric: string, why: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `the runs cannot be compared by ${metric}`, {
    expected: comparedFigures.map((figure) => figure.metric).join(', '),
    received: why,
  })
}

function candidateOf(figure: ComparedFigure, { a, b }: Arms, pairing: Pairing): Candidate {
  const { metric, label, unit, better, scale, of } = figure
  const values = (arm: readonly ArmRun[]): readonly number[] =>
    arm.map(({ document }) => of(document)).filter((value) => value !== null)
  const [inA, inB] = [values(a), values(b)]
  const single = a.length === 1 && b.length === 1
  const paired = pairing.kind === 'paired'
  return {
    metric,
    label,
    unit,
    better,
    scale,
    a: inA,
    b: inB,
    paired,
    within_run: single ? withinRuns(figure, a[0]!.document, b[0]!.document) : null,
    pairs: paired ? pairing.keys.map((key, i) => ({ key, a: inA[i] ?? 0, b: inB[i] ?? 0 })) : [],
  }
}

function withinRuns(
  { withinRun, coverage }: ComparedFigure,
  a: RunDocument,
  b: RunDocument,
): ComparedMetric['within_run'] {
  const measured = [coverage?.(a) ?? null, coverage?.(b) ?? null].filter((one) => one !== null)
  return { a: withinRun(a), b: withinRun(b), coverage: measured }
}

function orderOf({ a, b }: Arms, primary: ComparedMetric): OrderFindings | null {
  const on = (value: number): number => (primary.scale === 'log' ? Math.log(value) : value)
  const runs = (arm: 'A' | 'B', of: readonly ArmRun[], values: readonly number[]) =>
    of.map(({ startedAtMs, block }, i) => ({ arm, startedAtMs, value: on(values[i] ?? 0), block }))
  return orderFindings([...runs('A', a, primary.a.values), ...runs('B', b, primary.b.values)])
}

/** Whether the end-to-end times differ because the answers have other lengths. */
function confounded(a: readonly ArmRun[], b: readonly ArmRun[]): readonly Warning[] {
  const [first, second] = [partsOf(a), partsOf(b)]
  if (first === null || second === null) return []
  const { warning } = lengthConfounded(second, first)
  return warning === null ? [] : [warning]
}

function partsOf(runs: readonly ArmRun[]): LatencyParts | null {
  const of = (figure: (document: RunDocument) => number | null | undefined): number | null =>
    mean(runs.map(({ document }) => figure(document) ?? null).filter((value) => value !== null))
  const ttftMs = of(({ metrics }) => metrics.ttft_ms?.mean)
  const tokens = of(({ metrics }) => metrics.completion_tokens?.mean)
  if (ttftMs === null || tokens === null) return null
  return { ttftMs, tpotMs: of(({ weighting }) => weighting.per_token), outputTokens: tokens }
}

/** Requests of a run are alike: said once, with the larger design effect, so that nobody pools them. */
function replication(a: readonly ArmRun[], b: readonly ArmRun[]): readonly Warning[] {
  const found = [a, b]
    .map((arm) => pseudoReplication(arm.map(({ perRequest }) => perRequest)))
    .filter(({ fires }) => fires)
    .sort((x, y) => Number(y.stat) - Number(x.stat))[0]
  return found?.warning === undefined || found.warning === null ? [] : [found.warning]
}
