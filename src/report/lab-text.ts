import { noun } from '../base/noun.ts'
import { formatDuration, formatNumber, formatPercent, formatPlain } from '../base/units.ts'
import { commandLine } from './command-line.ts'
import type { ClientReading, LabDocument, LabOmission, LabTail, LabWalls } from './lab-documents.ts'
import {
  asciiText,
  dotPlot,
  framed,
  histogramRow,
  shareBar,
  type PlotPoint,
  type PlotStyle,
} from './lab-plot.ts'
import { painter, type Paint } from './paint.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

export interface LabOptions extends PlotStyle {
  readonly color: boolean
}

/** An experiment for the terminal: what it shows, its picture, closed form beside simulation. Ends with a line break. */
export function renderLab(document: LabDocument, options: LabOptions): string {
  const paint = painter(options.color)
  const lines =
    document.kind === 'tail'
      ? tailLines(document, options, paint)
      : document.kind === 'omission'
        ? omissionLines(document, options, paint)
        : wallsLines(document, options, paint)
  const text = `${lines.join('\n')}\n`
  return options.ascii ? asciiText(text) : text
}

const right = (gap: number): Column => ({ align: 'right', gap })
const left = (gap: number): Column => ({ align: 'left', gap })
const cells = (texts: readonly string[]): Cell[] => texts.map((text) => ({ text }))

function tailLines(document: LabTail, style: LabOptions, paint: Paint): string[] {
  const { rows, truth, percentile, axis, agent, shape } = document
  const first = rows[0]
  const times = shape === 'exponential' ? ' times the mean' : ''
  const answer =
    first === undefined
      ? ''
      : `A P${percentile} of ${formatNumber(first.n)} values is too low ${formatPercent(first.closed_form.underestimates)} of the time.`
  const table = rows.map(({ n, repeats, closed_form: closed, simulated }) => [
    { text: `n ${formatNumber(n)}` },
    {
      text:
        closed.mean === null || closed.sd === null
          ? '–'
          : `${closed.mean.toFixed(3)} ± ${closed.sd.toFixed(3)}`,
    },
    { text: `${simulated.mean.toFixed(3)} ± ${simulated.sd.toFixed(3)}` },
    { text: formatPercent(closed.underestimates, 1) },
    { text: formatPercent(simulated.underestimates, 1) },
    { text: formatNumber(repeats) },
  ])
  const width = rows[0]?.histogram.length ?? 0
  const mark = Math.min(width - 1, Math.floor(((truth - axis[0]) / (axis[1] - axis[0] || 1)) * width))
  const name = Math.max(...rows.map(({ n }) => formatNumber(n).length)) + 2
  const [low, high] = axis.map((end) => formatPlain(end))
  const truthText = `${style.ascii ? '^' : '▲'} true P${percentile} ${formatPlain(truth, 4)}`
  const deviation = (agent.simulated - agent.closed_form) / (agent.standard_error || 1)
  return [
    paint('strong', answer),
    '',
    `  estimates of the P${percentile} (${shape}${times}), drawn again and again (the last bars hold what lies beyond):`,
    ...rows.map(
      ({ n, histogram }) => `  ${`n ${formatNumber(n)}`.padStart(name)}  ${histogramRow(histogram, style)}`,
    ),
    `  ${' '.repeat(name)}  ${' '.repeat(mark)}${truthText}`,
    `  ${' '.repeat(name)}  ${low!}${' '.repeat(Math.max(1, width - low!.length - high!.length))}${high!}`,
    '',
    ...textTable(
      [right(2), right(3), right(3), right(3), right(2), right(3)],
      [cells(['', 'closed form', 'simulated', 'too low', '(simulated)', 'drawn']), ...table],
      paint,
    ),
    '',
    paint(
      'strong',
      `A task of ${formatNumber(agent.calls)} calls, each slow ${formatPercent(agent.slow)} of the time: ${formatPercent(agent.closed_form, 2)} of the tasks are slow.`,
    ),
    `  1 − (1 − ${formatPlain(agent.slow, 4)})^${formatNumber(agent.calls)}   ${shareBar(agent.closed_form, 40, style)} ${formatPercent(agent.closed_form, 2)}`,
    `  ${formatNumber(agent.tasks)} drawn  ${shareBar(agent.simulated, 40, style)} ${formatPercent(agent.simulated, 2)} ± ${formatPercent(agent.standard_error, 2)}${Math.abs(deviation) <= 3 ? '' : ' (more than 3 standard errors off)'}`,
    `  for 1 % of the tasks a call must be good at P${formatPlain(100 * (1 - agent.needed_per_call), 6)}`,
    `seed ${document.seed} · plimsoll calc samples ${percentile} 1000 · plimsoll calc compound 1% 20`,
  ]
}

const clientNames: Readonly<Record<ClientReading['client'], string>> = {
  scheduled: 'by the schedule',
  waiting: 'waits, skips missed slots',
  catching_up: 'waits, then catches up',
}

function omissionLines(document: LabOmission, style: LabOptions, paint: Paint): string[] {
  const { clients, stall_ms: stall, stall_start_ms: start } = document
  const scheduled = clients.find(({ client }) => client === 'scheduled')!
  const waiting = clients.find(({ client }) => client === 'waiting')!
  const factor = waiting.p99_ms > 0 ? scheduled.p99_ms / waiting.p99_ms : null
  const rate = formatPlain(document.rate_per_s)
  const top = Math.max(...clients.map(({ max_ms }) => max_ms), 1)
  const area = {
    width: 60,
    height: style.ascii ? 8 : 6,
    x: [start - stall, start + 2 * stall],
    y: [0, top],
  } as const
  const picture = (reading: ClientReading): string[] => [
    `  ${clientNames[reading.client]}: each dot is a request, when it was sent and how long it took`,
    ...framed(
      dotPlot(
        [{ points: reading.near_stall.map(([at, latency]): PlotPoint => [at, latency]), mark: 'o' }],
        area,
        style,
      ),
      {
        top: formatDuration(top),
        bottom: '0',
        left: formatDuration(start - stall),
        right: formatDuration(start + 2 * stall),
      },
      area.width,
      style,
    ).map((line) => `  ${line}`),
  ]
  const rows = clients.map((one) =>
    cells([
      clientNames[one.client],
      formatNumber(one.sent),
      formatNumber(one.slow),
      formatDuration(one.mean_ms),
      formatDuration(one.p50_ms),
      formatDuration(one.p95_ms),
      formatDuration(one.p99_ms),
      formatDuration(one.max_ms),
    ]),
  )
  return [
    paint(
      'strong',
      factor === null
        ? `P99 ${formatDuration(scheduled.p99_ms)}, and a waiting client reports ${formatDuration(waiting.p99_ms)}.`
        : `P99 ${formatDuration(scheduled.p99_ms)}, and a waiting client reports ${formatDuration(waiting.p99_ms)}: ${formatPlain(factor)} times less.`,
    ),
    `  ${formatPlain(document.rate_per_s)}/s for ${formatDuration(document.duration_ms)}; nothing moves from ${formatDuration(start)} to ${formatDuration(start + stall)}; else ${formatDuration(document.service_ms)} each, ${document.server === 'parallel' ? 'side by side' : 'in turn'}`,
    '',
    ...picture(scheduled),
    '',
    ...picture(waiting),
    '',
    ...textTable(
      [left(2), right(3), right(2), right(3), right(3), right(3), right(3), right(3)],
      [cells(['client', 'sent', 'slow', 'mean', 'P50', 'P95', 'P99', 'max']), ...rows],
      paint,
    ),
    '',
    `  closed form, dense schedule: P99 = stall × (1 − 1 % ÷ slow share) = ${formatDuration(document.closed_form_p99_ms)}`,
    `  the waiting client's values with the missing ones filled in: ${formatNumber(document.corrected.samples)} values, P99 ${formatDuration(document.corrected.p99_ms)}`,
    [
      commandLine('calc', 'stall', `${rate}/s`, `${document.duration_ms / 1000}s`, `${stall / 1000}s`),
      commandLine('run', '--request-rate', rate),
    ].join(' · '),
  ]
}

const wallWords = { slo: 'the SLO binds', saturation: 'saturation binds', memory: 'memory binds' } as const

function wallsLines(document: LabWalls, style: LabOptions, paint: Paint): string[] {
  const { points, capacity, peak, saturation, slo, memory, law, limit } = document
  const best = peak?.tokens_per_s ?? 1
  const at =
    capacity.load === null
      ? 'No capacity: no tested load keeps the limit.'
      : `Capacity: ${capacity.at_least ? 'at least ' : ''}${formatPlain(capacity.load)} ${noun(capacity.load, 'user')}, ${formatNumber(capacity.tokens_per_s ?? 0)} tok/s; ${capacity.binding === null ? 'no wall was reached' : wallWords[capacity.binding]}.`
  const rows = points.map((point) => [
    { text: point.load === capacity.load ? '▸' : '' },
    { text: formatPlain(point.load) },
    { text: formatNumber(point.tokens_per_s) },
    { text: point.p99_tpot_ms === null ? '–' : formatDuration(point.p99_tpot_ms) },
    { text: point.p99_ttft_ms === null ? '–' : formatDuration(point.p99_ttft_ms) },
    { text: shareBar(point.tokens_per_s / best, 20, style) },
    { text: wordsAt(document, point.load, point.passes) },
  ])
  const largest = Math.max(...points.map(({ load }) => load))
  const dots = points.map(({ load, tokens_per_s }): PlotPoint => [load, tokens_per_s])
  const curve =
    law === null
      ? []
      : Array.from({ length: 121 }, (_, step): PlotPoint => {
          const n = 1 + ((largest - 1) * step) / 120
          return [n, (law.lambda * n) / (1 + law.sigma * (n - 1) + law.kappa * n * (n - 1))]
        })
  const area = { width: 60, height: style.ascii ? 10 : 8, x: [0, largest], y: [0, best * 1.05] } as const
  const walls = [
    ...(saturation?.reached === true ? [`saturation ${formatPlain(saturation.load)}`] : []),
    ...(slo?.load !== undefined && slo.load !== null && slo.reached ? [`SLO ${formatPlain(slo.load)}`] : []),
    ...(memory === null ? [] : [`memory ${formatPlain(memory.load)}`]),
  ]
  return [
    paint('strong', at),
    `  ${document.source}${limit === null ? '' : ` · ${limit}`}${document.seed === null ? '' : ` · seed ${document.seed}`}`,
    '',
    ...textTable(
      [left(1), right(1), right(3), right(3), right(3), left(3), left(2)],
      [cells(['', 'users', 'tok/s', 'TPOT p99', 'TTFT p99', '', '']), ...rows],
      paint,
    ),
    '',
    `  tokens per second by users${law === null ? '' : style.ascii ? ' (o measured, . the law)' : ', with the law through them'}`,
    ...framed(
      dotPlot(
        [
          { points: curve, mark: '.' },
          { points: dots, mark: 'o' },
        ],
        area,
        style,
      ),
      { top: formatNumber(best * 1.05), bottom: '0', left: '0', right: formatPlain(largest) },
      area.width,
      style,
    ).map((line) => `  ${line}`),
    '',
    `  saturation: first with 95 % of the best${saturation === null ? ': no points' : saturation.reached ? ` = ${formatPlain(saturation.load)}` : ': not reached, throughput still rises'}`,
    `  SLO: ${limit === null ? 'no limit is said (--tpot 10ms)' : slo === null || slo.load === null ? 'already the first load fails' : slo.reached ? `last load of the unbroken passing prefix = ${formatPlain(slo.load)}${slo.indicative ? '; indicative: by estimates without their upper ends' : ''}` : `every load passes: at ${formatPlain(slo.load)} or beyond`}`,
    memory === null
      ? '  memory: not known (--kv-tokens N --request N)'
      : `  memory: ⌊${formatNumber(memory.kv_tokens)} ÷ ${formatNumber(memory.tokens_per_request)}⌋ = ${formatPlain(memory.load)}`,
    capacityWorking(document, walls),
    ...(law === null
      ? []
      : [
          `  law: X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)), λ ${formatPlain(law.lambda)}, σ ${formatPlain(law.sigma)}, κ ${formatPlain(law.kappa)}${law.peak_load === null ? ', no peak' : `; its peak lies at ${formatPlain(law.peak_load)}`}`,
        ]),
    ...(document.passing_above.length === 0
      ? []
      : [
          `  passed above a load that failed, and is not used: ${document.passing_above.map((load) => formatPlain(load)).join(', ')}`,
        ]),
    'plimsoll sweep · plimsoll calc walls · plimsoll calc replicas',
  ]
}

function capacityWorking({ capacity }: LabWalls, walls: readonly string[]): string {
  const end = capacity.load === null ? 'none' : formatPlain(capacity.load)
  return capacity.at_least || walls.length === 0
    ? `  capacity: no wall lies inside the tested loads, so it is at least the largest of them`
    : `  capacity = largest tested load under min(${walls.join(', ')}) = ${end}`
}

function wordsAt({ saturation, peak, slo, limit }: LabWalls, load: number, passes: boolean | null): string {
  const words: string[] = []
  if (slo?.reached === true && slo.load === load)
    words.push(slo.indicative ? 'SLO wall (indicative)' : 'SLO wall')
  if (saturation?.reached === true && saturation.load === load) words.push('saturation wall')
  if (peak?.load === load) words.push('the peak')
  if (limit !== null && passes === false) words.push('fails')
  return words.join(', ')
}
