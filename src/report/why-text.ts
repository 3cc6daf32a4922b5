import { noun } from '../base/noun.ts'
import {
  decimalsFor,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
  timeScale,
} from '../base/units.ts'
import { commandLine } from './command-line.ts'
import { footnotes } from './footnotes.ts'
import { painter, type Paint, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { textTable, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'
import type { WhyDocument, WhyPercentile, WhySide, WhyStutter } from './why-document.ts'

/** Why A is slower than B, as it is printed: the largest part first. */
export function renderWhy(document: WhyDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning))).join(' ')
  const sections: (readonly string[])[] = [
    [`${answer(document)}${marks === '' ? '' : ` ${marks}`}`],
    partsTable(document, paint),
    ...(options.explain ? [working(document)] : []),
    ...document.percentiles.map((moved) => percentileLines(moved, document, paint)),
    ...document.stutter.map((stutter) => stutterLines(stutter, document.stutter.length > 1)),
    [...notes.lines(), nextCommand(document)],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map(printable).join('\n'))
    .join('\n\n')}\n`
}

const partNames = {
  ttft_ms: 'the time to the first token',
  tpot_ms: 'the pace of the tokens after it',
  length_ms: 'the length of the answers',
} as const

/** Parts under this share of the difference are not worth a word. */
const worthSaying = 0.1

function answer({ a, b, difference, kind }: WhyDocument): string {
  const total = difference.total_ms
  const names = kind === 'requests' ? ['X', 'Y'] : ['A', 'B']
  const mean = a.n === 1 && b.n === 1 ? '' : ' on average'
  const size = formatDuration(Math.abs(total))
  const [timeA, timeB] = alike(a.e2e_ms, b.e2e_ms)
  if (Math.abs(total) < 0.005 * Math.max(a.e2e_ms, b.e2e_ms)) {
    return `${names[0]} and ${names[1]} take the same time${mean}: ${timeA} and ${timeB}`
  }
  const parts = (Object.keys(partNames) as (keyof typeof partNames)[])
    .map((key) => ({ key, ms: difference[key] }))
    .filter(({ ms }) => Math.abs(ms) >= worthSaying * Math.abs(total))
    .sort((x, y) => Math.abs(y.ms) - Math.abs(x.ms))
  const said = parts.map(({ key, ms }) => `${signedMs(ms)} from ${partNames[key]}`).join(', ')
  const [only] = parts
  const sameSpeed =
    parts.length === 1 && only?.key === 'length_ms' ? `: same speed, ${size} of length` : `: ${said}`
  return `${names[0]} takes ${size} ${total > 0 ? 'longer' : 'less'} than ${names[1]}${mean} (${timeA} against ${timeB})${sameSpeed}`
}

function signedMs(ms: number): string {
  return signedText(formatDuration(ms), ms)
}

function signedText(text: string, value: number): string {
  return `${value > 0 && /[1-9]/.test(text) ? '+' : ''}${text}`
}

/** Two times in one unit with the digits of the longer, so that they compare by eye. */
function alike(a: number, b: number): readonly [string, string] {
  const { text } = scaleOf(a, b)
  return [text(a), text(b)]
}

function scaleOf(a: number, b: number): { readonly text: (ms: number) => string } {
  const longest = Math.max(Math.abs(a), Math.abs(b))
  const scale = timeScale(longest)
  const decimals = Math.min(decimalsFor(longest / scale.ms), 3)
  return { text: (ms) => formatDuration(ms, decimals, scale) }
}

function partsTable({ a, b, difference, kind }: WhyDocument, paint: Paint): readonly string[] {
  const names = kind === 'requests' ? ['X', 'Y'] : ['A', 'B']
  const columns: Column[] = [
    { align: 'left', gap: 2 },
    { align: 'right', gap: 3 },
    { align: 'right', gap: 3 },
    { align: 'right', gap: 3 },
  ]
  const row = (name: string, first: number | null, second: number | null, owed: number): string[] => {
    const { text } = scaleOf(first ?? 0, second ?? 0)
    const time = (ms: number | null): string => (ms === null ? '–' : text(ms))
    const { text: owedText } = scaleOf(difference.total_ms, 0)
    return [name, time(first), time(second), signedText(owedText(owed), owed)]
  }
  const tokens = (side: WhySide): string => formatPlain(side.output_tokens, 4)
  const rows: string[][] = [
    ['', ...names.map(String), 'of the difference'],
    row('TTFT', a.ttft_ms, b.ttft_ms, difference.ttft_ms),
    ...insideTtft(a, b),
    row('TPOT', a.tpot_ms, b.tpot_ms, difference.tpot_ms),
    ['tokens', tokens(a), tokens(b), row('', 0, 0, difference.length_ms)[3] ?? ''],
    row('E2E', a.e2e_ms, b.e2e_ms, difference.total_ms),
  ]
  return [
    ...textTable(
      columns,
      rows.map((row) => row.map((text) => ({ text }))),
      paint,
    ),
    `  ${names[0]} is ${sideName(a)}, ${names[1]} is ${sideName(b)}`,
  ]
}

function sideName({ name, n }: WhySide): string {
  return n === 1 ? name : `${name} (${formatCount(n)} answers)`
}

function insideTtft(a: WhySide, b: WhySide): string[][] {
  const [x, y] = [a.ttft_parts, b.ttft_parts]
  if (x === null || y === null) return []
  const row = (name: string, first: number, second: number): string[] => {
    const { text } = scaleOf(first, second)
    return [`  ${name}`, text(first), text(second), `(${signedText(text(first - second), first - second)})`]
  }
  return [
    row('client lag', x.lag_ms, y.lag_ms),
    row('to the first byte', x.first_byte_ms, y.first_byte_ms),
    row('to the first token', x.first_token_ms, y.first_token_ms),
  ]
}

function working({ a, b, difference }: WhyDocument): readonly string[] {
  if (a.tpot_ms === null || b.tpot_ms === null) return []
  const figure = (value: number): string => formatPlain(value, 4)
  const [pa, pb] = [a.tpot_ms, b.tpot_ms]
  const [ga, gb] = [a.output_tokens - 1, b.output_tokens - 1]
  return [
    '  ΔE2E = ΔTTFT + ΔTPOT × mean of (N − 1) + mean of TPOT × Δ(N − 1), exactly',
    `  TTFT    ${figure(a.ttft_ms)} − ${figure(b.ttft_ms)} = ${figure(difference.ttft_ms)} ms`,
    `  TPOT    (${figure(pa)} − ${figure(pb)}) × (${figure(ga)} + ${figure(gb)}) ÷ 2 = ${figure(difference.tpot_ms)} ms`,
    `  length  (${figure(pa)} + ${figure(pb)}) ÷ 2 × (${figure(ga)} − ${figure(gb)}) = ${figure(difference.length_ms)} ms`,
  ]
}

const metricWords = { e2e_ms: 'E2E', ttft_ms: 'TTFT', tpot_ms: 'TPOT' } as const

function percentileLines(moved: WhyPercentile, { kind }: WhyDocument, paint: Paint): readonly string[] {
  const [nameA, nameB] = kind === 'requests' ? ['X', 'Y'] : ['A', 'B']
  const word = metricWords[moved.metric]
  const scale = timeScale(Math.max(moved.a, moved.b))
  const time = (ms: number | null): string => (ms === null ? '–' : formatDuration(ms, undefined, scale))
  const change = moved.b === 0 ? '' : ` (${signedPercent(moved.total / moved.b)})`
  const head = `${word} p${moved.level}  ${time(moved.b)} in ${nameB} → ${time(moved.a)} in ${nameA}${change}: mix ${signedMs(moved.mix)}, within the segments ${signedMs(moved.within)}`
  if (moved.segments.length < 2) {
    return [`${head.slice(0, head.indexOf(': mix'))}: one segment by ${moved.by}, so all of it is within`]
  }
  const rows = [
    [
      moved.by,
      `share ${nameB}`,
      `share ${nameA}`,
      `p${moved.level} ${nameB}`,
      `p${moved.level} ${nameA}`,
      'change',
    ],
    ...moved.segments.map((segment) => [
      segment.segment,
      formatPercent(segment.share_b),
      formatPercent(segment.share_a),
      time(segment.b),
      time(segment.a),
      segment.change === null ? '–' : signedPercent(segment.change),
    ]),
  ]
  const columns: Column[] = rows[0]!.map((_, i) => ({
    align: i === 0 ? 'left' : 'right',
    gap: i === 0 ? 2 : 3,
  }))
  return [
    head,
    ...textTable(
      columns,
      rows.map((row) => row.map((text) => ({ text }))),
      paint,
    ),
  ]
}

function signedPercent(share: number): string {
  const decimals = Math.abs(share) < 0.1 ? 1 : 0
  const text = formatNumber(share * 100, decimals)
  return `${share > 0 && /[1-9]/.test(text) ? '+' : ''}${text} %`
}

function stutterLines(stutter: WhyStutter, named: boolean): readonly string[] {
  const of = named ? ` of ${stutter.name}` : ''
  if (stutter.streams === 0) return [`no stream${of} has two gaps: pauses cannot be seen`]
  if (stutter.pauses === 0)
    return [`none of ${formatCount(stutter.streams)} ${noun(stutter.streams, 'stream')}${of} paused`]
  const { with_prefill: together, by_chance: chance, pauses } = stutter
  const tokens =
    stutter.prefill_tokens === null
      ? ''
      : `, of ${formatPlain(stutter.prefill_tokens)} prompt tokens (median; of all ${formatPlain(stutter.usual_tokens ?? 0)})`
  const more = together > 2 * chance && together >= 3
  const lines = [
    `${formatCount(stutter.paused_streams)} of ${formatCount(stutter.streams)} ${noun(stutter.streams, 'stream')}${of} paused, ${formatCount(pauses)} times (a gap over 5× the stream's median)`,
    `  ${formatCount(together)} of ${formatCount(pauses)} pauses coincide with another request's first token${tokens}; by chance ${formatPlain(chance, 2)} would${more ? ': prefills hold the others up → --max-num-batched-tokens or a long-prefill limit of the engine' : ''}`,
  ]
  for (const moment of stutter.moments.slice(0, 3)) {
    lines.push(
      `  at ${formatDuration(moment.at_ms)}: ${formatCount(moment.streams)} ${noun(moment.streams, 'stream')} for up to ${formatDuration(moment.longest_ms)}${moment.prefill ? ', with a prefill' : ', with no prefill'}`,
    )
  }
  const [longest] = stutter.longest
  if (longest !== undefined) {
    lines.push(
      `  longest: ${longest.id}, ${formatDuration(longest.gap_ms)} where its gaps are ${formatDuration(longest.median_gap_ms)}`,
    )
  }
  return lines
}

function nextCommand({ kind, a, b }: WhyDocument): string {
  // Points of one sweep differ by their load: there is nothing to compare them for.
  const isPoint = [a, b].some(({ name, run }) => run !== undefined && name !== run)
  if (kind === 'runs' && !isPoint) return commandLine('compare', b.name, '--', a.name)
  if (kind !== 'requests') return commandLine('show', a.run ?? 'RUN', '--explain')
  const run = a.run ?? b.run
  return commandLine('why', ...(run === undefined ? ['RUN', 'RUN'] : [run]))
}
