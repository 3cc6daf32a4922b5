import {
  decimalsFor,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPlain,
} from '../base/units.ts'
import { commandLine } from './command-line.ts'
import { footnotes } from './footnotes.ts'
import { painter, type RenderOptions } from './paint.ts'
import type { FixedPart, PrefillDocument } from './prefill-document.ts'
import { printable } from './printable.ts'
import { savedWords } from './saved-words.ts'
import { textTable, type Column } from './text-table.ts'
import { warningLine } from './warning-text.ts'

/** A prefill sweep as it is printed: rate and fixed cost, the points, what bends, what the fixed cost is made of. */
export function renderPrefill(document: PrefillDocument, options: RenderOptions): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const marks = document.warnings.map((warning) => notes.mark(warningLine(warning))).join(' ')
  const lines = [
    `${answer(document)}${marks === '' ? '' : ` ${marks}`}`,
    '',
    ...textTable(columns, table(document), paint),
    '',
    ...rateLines(document),
    ...shapeLines(document),
    ...fixedLines(document),
    ...(options.explain ? working(document) : []),
    `  ${document.model === null ? '' : `${document.model} at `}${document.source}`,
  ].map(printable)
  const foot = notes.lines()
  return `${[...lines, ...(foot.length > 0 ? ['', ...foot] : []), nextLine(document, options)].join('\n')}\n`
}

function nextLine(
  { folder, embedded, source, again }: PrefillDocument,
  options: Pick<RenderOptions, 'isStored'>,
): string {
  if (folder === null) return 'measure it: plimsoll prefill --url URL'
  const words = again === undefined ? (embedded ? [] : ['--url', source]) : again
  return [...savedWords(folder, options), ...(words === null ? [] : [commandLine('sweep', ...words)])].join(
    ' · ',
  )
}

function answer({ rate, interrupted }: PrefillDocument): string {
  const start = interrupted ? 'Interrupted · ' : ''
  if (rate.tokens_per_s === null) {
    return `${start}TTFT does not grow with the prompt: no prefill rate; every request pays ${formatDuration(rate.fixed_ms)}`
  }
  return `${start}prefill ${tokensPerSecond(rate.tokens_per_s)}${rateInterval(rate.interval)}, and ${formatDuration(rate.fixed_ms)}${fixedInterval(rate.fixed_interval)} for every request besides`
}

/** "30.1k tokens/s" */
function tokensPerSecond(rate: number): string {
  return rate >= 10_000 ? `${formatNumber(rate / 1000, 1)}k tokens/s` : `${formatPlain(rate)} tokens/s`
}

function rateInterval(interval: PrefillDocument['rate']['interval']): string {
  if (interval === null) return ''
  const ends = interval.map((end) => (end === null ? '∞' : tokensPerSecond(end).replace(' tokens/s', '')))
  return ` [${ends.join(', ')}]`
}

function fixedInterval(interval: PrefillDocument['rate']['fixed_interval']): string {
  if (interval === null) return ''
  const decimals = Math.min(decimalsFor(Math.max(Math.abs(interval[0]), Math.abs(interval[1]))), 2)
  return ` [${interval.map((end) => formatNumber(end, decimals)).join(', ')}]`
}

const columns: readonly Column[] = [
  { align: 'right', gap: 2 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  { align: 'left', gap: 2, headIfAny: true },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
]

function table({ lengths, rate }: PrefillDocument): { text: string }[][] {
  const slope = rate.tokens_per_s === null ? 0 : 1000 / rate.tokens_per_s
  const rows = lengths.map((each) => {
    const line = rate.fixed_ms + slope * each.prompt_tokens
    return [
      formatCount(each.prompt_tokens),
      formatDuration(each.ttft_ms),
      formatDuration(line),
      each.n === 1 ? '' : `[${formatPlain(each.fastest_ms)}, ${formatPlain(each.slowest_ms)}]`,
      formatCount(each.n),
      each.ttft_ms > 0 ? tokensPerSecond((1000 * each.prompt_tokens) / each.ttft_ms) : '–',
    ]
  })
  return [['tokens', 'TTFT median', 'the line', '[fastest, slowest]', 'n', 'tokens ÷ TTFT'], ...rows].map(
    (row) => row.map((text) => ({ text })),
  )
}

function rateLines({
  rate,
  least_squares: line,
  two_points: two,
  one_point: one,
}: PrefillDocument): string[] {
  const lines: string[] = []
  if (rate.why !== null) lines.push(`  no intervals: ${rate.why}`)
  if (two !== null) {
    const relative =
      two.rate_relative_per_ms === null ? '' : `the rate by ± ${formatPercent(two.rate_relative_per_ms)}, `
    lines.push(
      `  an error of ± 1 ms in each TTFT would move ${relative}the fixed cost by ± ${formatPlain(two.fixed_ms_per_ms, 4)} ms`,
    )
  }
  if (rate.why === null && line.tokens_per_s !== null) {
    const spread = line.rate_relative_se === null ? '' : ` ± ${formatPercent(line.rate_relative_se)}`
    const fixed = line.fixed_se_ms === null ? '' : ` ± ${formatPlain(line.fixed_se_ms, 2)}`
    lines.push(
      `  least squares beside it: ${tokensPerSecond(line.tokens_per_s)}${spread}, fixed ${formatPlain(line.fixed_ms, 4)}${fixed} ms`,
    )
  }
  if (one !== null && one.factor !== null) {
    lines.push(
      `  often got wrong: ${formatCount(one.prompt_tokens)} tokens ÷ ${formatDuration(one.ttft_ms)} = ${tokensPerSecond(one.tokens_per_s)}, ${formatPlain(one.factor, 2)}× too low: one point counts the fixed cost as prefill`,
    )
  }
  if (rate.fixed_ms < 0)
    lines.push('  the fixed cost comes out negative: TTFT bends, or short prompts were measured differently')
  return lines
}

function shapeLines({ curve, staircase, worst_residual: worst }: PrefillDocument): string[] {
  const lines: string[] = []
  if (staircase !== null) {
    lines.push(
      `  staircase: each further chunk of ${formatCount(staircase.chunk)} tokens costs ${formatPlain(staircase.ms_per_chunk, 2)} ms beside its tokens (p ${formatPlain(staircase.p, 2)}): chunked prefill`,
    )
  }
  if (curve?.significant === true && staircase !== null && staircase.p <= (curve.p ?? 1)) {
    lines.push(`  TTFT bends too (p ${formatPlain(curve.p ?? 0, 2)}), as a staircase makes it`)
  } else if (curve?.significant === true) {
    const [short, long] = [curve.tokens_per_s_at_shortest, curve.tokens_per_s_at_longest]
    const rates =
      short === null || long === null
        ? ''
        : `: ${tokensPerSecond(short)} at the shortest, ${tokensPerSecond(long)} at the longest`
    const means =
      curve.ms_per_token2 > 0
        ? 'attention grows with the square of the prompt; one rate holds only near its lengths, and the fixed cost is too low'
        : 'the long prompts are cheaper by the token than the short ones'
    lines.push(`  TTFT bends (p ${formatPlain(curve.p ?? 0, 2)})${rates}: ${means}`)
  } else if (curve !== null && curve.p !== null) {
    lines.push(`  no curve is seen (p ${formatPlain(curve.p, 2)})`)
  }
  if (worst !== null && worst.share > 0.05) {
    lines.push(
      `  at ${formatCount(worst.prompt_tokens)} tokens the line is ${formatPercent(worst.share)} off: it is not a line there`,
    )
  }
  return lines
}

const partNames: Readonly<Record<FixedPart['name'], string>> = {
  client_lag: 'client lag',
  first_byte: 'first byte',
  queue: 'queue',
  decode_step: 'one decode step',
  rest: 'the rest',
}

function fixedLines({ fixed_parts: parts, rate }: PrefillDocument): string[] {
  if (parts.length === 0) return []
  return [
    `  in the fixed ${formatDuration(rate.fixed_ms)}:`,
    ...parts.map(
      ({ name, ms, why }) =>
        `    ${partNames[name].padEnd(16)} ${(ms === null ? 'not told apart' : formatDuration(ms, ms === 0 ? 0 : Math.min(decimalsFor(ms), 2))).padStart(14)}   ${why}`,
    ),
  ]
}

/** "rate = ΔL ÷ ΔTTFT = (8,000 − 256) ÷ (280 − 23) ms = 30,132 tokens/s" for the ends; the line itself is a median of such slopes. */
function working({ lengths, rate, least_squares: line }: PrefillDocument): string[] {
  const [first] = lengths
  const last = lengths.at(-1)
  if (first === undefined || last === undefined || rate.tokens_per_s === null) return []
  const [tokens, ms] = [last.prompt_tokens - first.prompt_tokens, last.ttft_ms - first.ttft_ms]
  const ends =
    ms > 0
      ? [
          `  rate of the ends = ΔL ÷ ΔTTFT = (${formatCount(last.prompt_tokens)} − ${formatCount(first.prompt_tokens)}) ÷ (${formatPlain(last.ttft_ms)} − ${formatPlain(first.ttft_ms)}) ms = ${formatCount(tokens)} ÷ ${formatPlain(ms)} ms = ${formatNumber((1000 * tokens) / ms)} tokens/s`,
        ]
      : []
  return [
    ...ends,
    lengths.length > 2
      ? `  the headline is the median of the slopes of all pairs of lengths (Theil–Sen): ${formatNumber(rate.tokens_per_s)} tokens/s`
      : '  two lengths have one slope',
    `  fixed = median of TTFT − L ÷ rate = ${formatPlain(rate.fixed_ms, 4)} ms; r² of least squares ${line.r2 === null ? 'unknown' : formatPlain(line.r2, 5)}`,
  ]
}
