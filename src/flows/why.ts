import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { parseCount, parseDurationMs } from '../base/units.ts'
import type { Warning } from '../base/warnings.ts'
import { lengthConfounded } from '../judge/traps.ts'
import { lengthBins, percentileShift, type Segments } from '../judge/why-mix.ts'
import { meanParts, partsOf, whyDifferent, type MeanParts } from '../judge/why-parts.ts'
import { stutterCauses } from '../judge/why-stutter.ts'
import { tpotMs } from '../measure/metrics/decompose-latency.ts'
import { isInWindow } from '../measure/metrics/run-window.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import { sortRows } from '../measure/record/sort-rows.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { WhyDocument, WhyPercentile, WhySide, WhyStutter } from '../report/why-document.ts'
import { isSweepFolder } from './sweep-folder.ts'
import { namedRun, pointsAtTheWall } from './sweep-reference.ts'

/** What requests are told apart by. */
export const segmentLabels = ['prompt', 'output', 'segment', 'session', 'replica', 'turn', 'worker'] as const
export type SegmentLabel = (typeof segmentLabels)[number]

export interface WhyConfig {
  /** A run folder, a point of a sweep as SWEEP@LOAD, RUN#REQUEST, or figures: "ttft=0.3s,e2e=8.3s,tokens=400". */
  readonly a: string
  /** Null: the slowest of A against the rest of A; of a sweep the first failing point against that at capacity. */
  readonly b: string | null
  readonly by: SegmentLabel
  /** In per cent, as text. */
  readonly level: string
}

/**
 * Why A is slower than B: the exact decomposition of the difference, and for runs what moved a percentile and what made streams pause.
 * @throws PlimsollError PLIM_RUN_FOLDER for a run or request that is not there, PLIM_NUMBER for figures that cannot be read.
 */
export async function whyFlow(config: WhyConfig, deps: { readonly version: string }): Promise<WhyDocument> {
  if (config.b === null && (await isSweepFolder(config.a))) {
    const wall = await pointsAtTheWall(config.a)
    return whyFlow({ ...config, a: wall.a.name, b: wall.b.name }, deps)
  }
  if (config.b === null) return withinRun(config, deps.version)
  const [a, b] = [await readSide(config.a), await readSide(config.b)]
  const single = a.kind !== 'run' || b.kind !== 'run'
  const document = difference(a, b, single ? 'requests' : 'runs', deps.version)
  if (a.kind !== 'run' || b.kind !== 'run') return document
  const shifts = (['e2e_ms', 'ttft_ms', 'tpot_ms'] as const).flatMap((metric) =>
    movedPercentile(metric, a.rows, b.rows, config),
  )
  return {
    ...document,
    percentiles: shifts.map(({ percentile }) => percentile),
    stutter: [stutterOf(a), stutterOf(b)],
    warnings: [...document.warnings, ...shifts.flatMap(({ warning }) => (warning === null ? [] : [warning]))],
  }
}

interface Side {
  readonly kind: 'run' | 'request' | 'figures'
  readonly name: string
  /** Its folder; null for figures. */
  readonly path: string | null
  readonly rows: Rows
  readonly parts: MeanParts
}

async function readSide(text: string): Promise<Side> {
  if (/^[a-z0-9_]+=/i.test(text)) {
    return { kind: 'figures', name: text, path: null, rows: [], parts: readFigures(text) }
  }
  const [reference, id] = splitReference(text)
  const { path, name } = await namedRun(reference)
  const { rows, manifest } = await readRun(path)
  const { window } = manifest
  if (id !== undefined) {
    const row = rows.find((each) => each.id === id) ?? rows.find((each) => each.id.endsWith(`-${id}`))
    if (row === undefined) {
      throw new PlimsollError('PLIM_RUN_FOLDER', `the run has no request ${id}`, {
        expected: `one of ${rows
          .slice(0, 3)
          .map((each) => each.id)
          .join(', ')}, …`,
        where: { file: path },
      })
    }
    return sideOf('request', { name: text, path }, [row])
  }
  const inside =
    window === null
      ? rows
      : rows.filter((row) => isInWindow(row, { startMs: window.start_ms, endMs: window.end_ms }))
  return sideOf('run', { name, path }, inside)
}

function sideOf(
  kind: 'run' | 'request',
  { name, path }: { readonly name: string; readonly path: string | null },
  rows: Rows,
): Side {
  const parts = meanParts(rows)
  if (parts !== null) return { kind, name, path, rows, parts }
  throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no answer whose times and tokens are known', {
    received: `${rows.length} ${noun(rows.length, 'request')}, ${rows.filter(({ ok }) => ok).length} of them ok`,
    where: { file: name },
  })
}

function splitReference(text: string): readonly [string, string | undefined] {
  const at = text.lastIndexOf('#')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** "ttft=0.3s,e2e=8.3s,tokens=400", or tpot=20ms instead of e2e. */
export function readFigures(text: string): MeanParts {
  const given = new Map(
    text.split(',').map((part): [string, string] => {
      const [key = '', value = ''] = part.split('=')
      return [key.trim().toLowerCase(), value.trim()]
    }),
  )
  const unknown = [...given.keys()].find((key) => !['ttft', 'e2e', 'tpot', 'tokens'].includes(key))
  const ttft = given.get('ttft')
  const tokens = given.get('tokens')
  const [e2e, tpot] = [given.get('e2e'), given.get('tpot')]
  if (
    unknown !== undefined ||
    ttft === undefined ||
    tokens === undefined ||
    (e2e === undefined) === (tpot === undefined)
  ) {
    throw new PlimsollError('PLIM_NUMBER', 'these figures do not make a latency', {
      expected: 'ttft=0.3s,e2e=8.3s,tokens=400, or tpot=20ms instead of e2e',
      received: text,
    })
  }
  const outputTokens = parseCount(tokens, 'tokens', 1)
  const ttftMs = parseDurationMs(ttft, 'ttft')
  if (tpot !== undefined) return partsOf({ ttftMs, tpotMs: parseDurationMs(tpot, 'tpot'), outputTokens })
  const e2eMs = parseDurationMs(e2e ?? '', 'e2e')
  if (e2eMs < ttftMs) {
    throw new PlimsollError('PLIM_NUMBER', 'an answer cannot end before its first token', {
      received: `ttft ${ttft}, e2e ${e2e}`,
    })
  }
  return partsOf({ ttftMs, tpotMs: tpotMs(e2eMs, ttftMs, outputTokens), outputTokens })
}

function difference(
  a: Pick<Side, 'name' | 'path' | 'parts'>,
  b: Pick<Side, 'name' | 'path' | 'parts'>,
  kind: WhyDocument['kind'],
  version: string,
): WhyDocument {
  const parts = whyDifferent(a.parts, b.parts)
  const trap = lengthConfounded(a.parts, b.parts)
  return {
    schema: 'plimsoll.why/1',
    plimsoll: version,
    kind,
    a: whySide(a),
    b: whySide(b),
    difference: {
      total_ms: parts.totalMs,
      ttft_ms: parts.ttftMs,
      tpot_ms: parts.tpotMs,
      length_ms: parts.lengthMs,
    },
    percentiles: [],
    stutter: [],
    warnings: trap.warning === null ? [] : [trap.warning],
  }
}

function whySide({ name, path, parts }: Pick<Side, 'name' | 'path' | 'parts'>): WhySide {
  const { ttftParts: inside } = parts
  return {
    name,
    ...(path === null ? {} : { run: path }),
    n: parts.n,
    ttft_ms: parts.ttftMs,
    tpot_ms: parts.tpotMs,
    output_tokens: parts.outputTokens,
    e2e_ms: parts.e2eMs,
    ttft_parts:
      inside === null
        ? null
        : {
            lag_ms: inside.lagMs,
            first_byte_ms: inside.firstByteMs,
            first_token_ms: inside.firstTokenMs,
          },
  }
}

/** One run: its slowest hundredth, one answer at least, against the rest. */
async function withinRun(config: WhyConfig, version: string): Promise<WhyDocument> {
  const side = await readSide(config.a)
  const answered = sortRows(
    side.rows.filter(
      (row) => row.ok && row.e2e_ms !== null && row.ttft_ms !== null && row.completion_tokens !== null,
    ),
    (row) => -(row.e2e_ms ?? 0),
  )
  if (side.kind !== 'run' || answered.length < 2) {
    throw new PlimsollError('PLIM_USAGE', 'slower than what?', {
      expected: 'two runs, two requests (RUN#ID), or one run with at least two answers',
      received: config.a,
    })
  }
  const slowest = Math.ceil(answered.length / 100)
  const [slow, rest] = [answered.slice(0, slowest), answered.slice(slowest)]
  const { path } = side
  return {
    ...difference(
      sideOf('run', { name: `slowest ${slowest} of ${answered.length}`, path }, slow),
      sideOf('run', { name: `the other ${rest.length}`, path }, rest),
      'run',
      version,
    ),
    stutter: [stutterOf(side)],
  }
}

function stutterOf({ name, rows }: Side): WhyStutter {
  const causes = stutterCauses(rows)
  const longest = [...causes.pauses].sort((x, y) => y.gapMs - x.gapMs).slice(0, 10)
  return {
    name,
    streams: causes.streams,
    paused_streams: causes.pausedStreams,
    pauses: causes.pauses.length,
    with_prefill: causes.withPrefill,
    by_chance: causes.byChance,
    prefill_tokens: causes.prefillTokens,
    usual_tokens: causes.usualTokens,
    longest: longest.map((pause) => ({
      id: pause.id,
      at_ms: pause.fromMs,
      gap_ms: pause.gapMs,
      median_gap_ms: pause.medianGapMs,
      prefill_id: pause.prefill?.id ?? null,
      prefill_tokens: pause.prefill?.promptTokens ?? null,
    })),
    moments: causes.moments.slice(0, 5).map(({ atMs, streams, longestMs, prefill }) => ({
      at_ms: atMs,
      streams,
      longest_ms: longestMs,
      prefill,
    })),
  }
}

const labelWords: Readonly<Record<SegmentLabel, string>> = {
  prompt: 'prompt tokens',
  output: 'answer tokens',
  segment: 'segment',
  session: 'session',
  replica: 'replica',
  turn: 'turn',
  worker: 'worker',
}

function movedPercentile(
  metric: WhyPercentile['metric'],
  a: Rows,
  b: Rows,
  { by, level }: WhyConfig,
): readonly { readonly percentile: WhyPercentile; readonly warning: Warning | null }[] {
  const label = labeller(by, [...a, ...b])
  const shift = percentileShift(segmentsOf(b, metric, label), segmentsOf(a, metric, label), level)
  if (shift === null) return []
  return [
    {
      percentile: {
        metric,
        level,
        a: shift.after,
        b: shift.before,
        total: shift.total,
        mix: shift.mix,
        within: shift.within,
        by: labelWords[by],
        segments: shift.segments.map((segment) => ({
          segment: segment.segment,
          n_a: segment.n[1],
          n_b: segment.n[0],
          share_a: segment.share[1],
          share_b: segment.share[0],
          a: segment.percentile[1],
          b: segment.percentile[0],
          change: segment.change,
        })),
      },
      warning: shift.warning,
    },
  ]
}

function segmentsOf(
  rows: Rows,
  metric: WhyPercentile['metric'],
  label: (row: RequestRow) => string,
): Segments {
  const segments = new Map<string, number[]>()
  for (const row of rows) {
    const value = row[metric]
    if (!row.ok || value === null) continue
    const name = label(row)
    const list = segments.get(name)
    if (list === undefined) segments.set(name, [value])
    else list.push(value)
  }
  return segments
}

function labeller(by: SegmentLabel, rows: Rows): (row: RequestRow) => string {
  if (by === 'prompt' || by === 'output') {
    const lengthOf = (row: RequestRow): number | null =>
      by === 'prompt' ? row.prompt_tokens : row.completion_tokens
    const bin = lengthBins(rows.map(lengthOf).filter((length) => length !== null))
    return (row) => {
      const length = lengthOf(row)
      return length === null ? 'unknown' : bin(length)
    }
  }
  return (row) => String(row[by] ?? 'none')
}
