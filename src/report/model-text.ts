import { noun } from '../base/noun.ts'
import { formatCount, formatDuration, formatPercent, formatPlain, formatRate } from '../base/units.ts'
import {
  fits,
  type ModelDocument,
  type PredictedDocument,
  type PredictionDocument,
  type ScoreDocument,
  type ScoredFigure,
} from './model-document.ts'
import { commandLine } from './command-line.ts'
import { painter } from './paint.ts'
import { printable } from './printable.ts'
import { savedWords } from './saved-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

interface Options {
  readonly color: boolean
}

const names: Readonly<Record<string, readonly [name: string, unit: string, per: number]>> = {
  overhead_ms: ['per step, beside the weights', 'ms', 1],
  weights_ms: ['weights, once a step', 'ms', 1],
  per_token_ms: ['per token above the knee', 'µs', 1e3],
  per_context_token_ms: ['per context token of a decoding row', 'ns', 1e6],
  per_pair_ms: ['per pair of tokens of a prefill', 'ns', 1e6],
  per_sequence_ms: ['per row', 'µs', 1e3],
  front_end_ms: ['outside of the steps, per request', 'ms', 1],
}

/** What a coefficient of a document stands for. */
export function coefficientWords(key: string): string {
  return names[key]?.[0] ?? key
}

const pointColumns: readonly Column[] = [
  { align: 'left', gap: 2 },
  ...Array.from({ length: 6 }, (): Column => ({ align: 'right', gap: 3 })),
]

/**
 * A fit: how well it meets its points, what each coefficient is known to, what would tell the rest; `typed` are the words after `model`
 * that it was asked by.
 */
export function renderModel(
  document: ModelDocument,
  options: Options & { readonly typed: readonly string[] },
  savedTo: string | null,
): string {
  const paint = painter(options.color)
  const rows: Cell[][] = Object.entries(document.coefficients).map(([key, value]) => {
    const [name, unit, per] = names[key] ?? [key, 'ms', 1]
    const factor = document.uncertainty[key] ?? Number.POSITIVE_INFINITY
    const known = factor < Math.exp(0.5)
    return [
      { text: name },
      { text: `${formatPlain(value * per)} ${unit}` },
      known
        ? { text: `± ${formatPercent(factor - 1)}` }
        : { text: 'not known from these runs', style: 'doubtful' },
    ]
  })
  const points: Cell[][] = document.points.map(
    ({ run, n, prompt_tokens: prompt, ttft_ms: ttft, tpot_ms: tpot }) => [
      { text: printable(run) },
      { text: formatCount(n) },
      { text: formatCount(Math.round(prompt)) },
      { text: formatDuration(ttft.measured) },
      { text: signed(ttft.fitted / ttft.measured - 1) },
      { text: tpot === null ? '–' : formatDuration(tpot.measured) },
      { text: tpot === null ? '–' : signed(tpot.fitted / tpot.measured - 1) },
    ],
  )
  const head = ['run', 'n', 'prompt', 'TTFT', 'fit', 'TPOT', 'fit'].map((text): Cell => ({ text }))
  const bound =
    document.bounded_by === 'physics'
      ? 'bounded by the data sheet of the GPU'
      : 'bounded by nothing but 0 (name --gpu and --model for physics)'
  const lines = [
    ...(fits(document)
      ? []
      : [
          `${paint('bad', 'DOES NOT FIT')}: off by ${formatPercent(document.rms_error)} in the runs that it was made of; nothing that it foretells can be used`,
          '  these runs are not of one engine with these settings, or not of an engine that works in steps: see which rows are off',
          '',
        ]),
    `meets ${document.points.length} ${noun(document.points.length, 'point')} of ${document.runs.length} ${noun(document.runs.length, 'run')} to ${formatPercent(document.rms_error)} (root mean square), ${bound}`,
    '',
    ...textTable(
      [
        { align: 'left', gap: 2 },
        { align: 'right', gap: 3 },
        { align: 'left', gap: 2 },
      ],
      rows,
      paint,
    ),
    '',
    ...textTable(pointColumns, [head, ...points], paint),
    '',
    ...document.collinear.map(
      ({ a, b }) => `  ${coefficientWords(a)} and ${coefficientWords(b)} cannot be told apart by these runs`,
    ),
    ...(document.next_measurement === null ? [] : [`  would tell most: ${document.next_measurement}`]),
    savedTo === null
      ? commandLine('model', ...options.typed, '--out', 'model.json')
      : savedWords(savedTo, {}, [
          commandLine('model', 'predict', savedTo, '--rate', 'RATE'),
          commandLine('model', 'score', savedTo, 'RUN'),
        ]).join(' · '),
  ]
  return `${lines.join('\n')}\n`
}

const wallNames: Readonly<Record<string, string>> = {
  compute: 'compute',
  seats: 'number of seats',
  kv: 'KV pool',
  budget: 'token budget',
  slo: 'TPOT limit',
}

/** A prediction: where the wall is, how near the load, and only then a latency. */
export function renderPrediction(document: PredictionDocument, options: Options): string {
  const paint = painter(options.color)
  const { asked, capacity_per_s: capacity, load, latency } = document
  const walls = Object.entries(document.walls_per_s).map(
    ([wall, rate]) => `${wallNames[wall] ?? wall} ${rate === null ? 'never' : formatRate(rate)}`,
  )
  const lines = [
    `one replica carries ${formatRate(capacity.value)} [${formatPlain(capacity.low)}, ${formatPlain(capacity.high)}]: the ${wallNames[document.binding] ?? document.binding} binds`,
    paint(
      'quiet',
      `  prompts ${asked.prompt}, answers ${asked.output} tokens · intervals hold 90 % of what the fit cannot rule out`,
    ),
    '',
    `  at ${formatRate(asked.rate_per_s)} it is at ${formatPercent(load.value)} [${formatPercent(load.low)}, ${formatPercent(load.high)}] of that`,
    ...(latency === null
      ? [
          paint(
            'doubtful',
            '  too near the wall for a latency: a small error of the capacity is any waiting time',
          ),
        ]
      : [
          `  TTFT mean ${range(latency.ttft_mean_ms)}, p99 ${range(latency.ttft_p99_ms)}`,
          `  TPOT mean ${range(latency.tpot_mean_ms)}, p99 ${range(latency.tpot_p99_ms)}`,
          `  E2E mean ${range(latency.e2e_mean_ms)}`,
        ]),
    `  walls: ${walls.join(', ')}`,
    ...document.outside.map((text) => paint('doubtful', `  outside of what was measured: ${text}`)),
    [
      `measure it: ${commandLine('run', '--url', 'URL', '--request-rate', formatPlain(asked.rate_per_s), '--prompt', asked.prompt, '--output', asked.output)}`,
      commandLine('model', 'score', document.model, 'RUN'),
    ].join(' · '),
  ]
  return `${lines.join('\n')}\n`
}

/** A score: error and coverage, then each figure. */
export function renderScore(document: ScoreDocument, options: Options): string {
  const paint = painter(options.color)
  const { coverage, mape, mean_error: bias } = document
  const columns: readonly Column[] = [
    { align: 'left', gap: 2 },
    ...Array.from({ length: 6 }, (): Column => ({ align: 'right', gap: 3 })),
  ]
  const head = ['run', 'prompt', 'TTFT', 'foretold', 'error', 'TPOT', 'error'].map((text): Cell => ({ text }))
  const rows = document.points.map(({ run, prompt_tokens: prompt, ttft_ms: ttft, tpot_ms: tpot }): Cell[] => [
    { text: printable(run) },
    { text: formatCount(Math.round(prompt)) },
    { text: formatDuration(ttft.measured) },
    { text: range(ttft) },
    error(ttft),
    { text: tpot === null ? '–' : formatDuration(tpot.measured) },
    tpot === null ? { text: '–' } : error(tpot),
  ])
  const lines = [
    `off by ${share(mape.ttft)} in TTFT and ${share(mape.tpot)} in TPOT on average (signed ${sign(bias.ttft)} and ${sign(bias.tpot)}) · ${coverage.inside} of ${coverage.of} ${noun(coverage.of, 'figure')} inside their 90 % interval`,
    ...(document.wide === 0
      ? []
      : [
          paint(
            'doubtful',
            `  ${document.wide} of these intervals ${noun(document.wide, 'is', 'are')} wider than the figure that was foretold: to be inside says nothing there`,
          ),
        ]),
    '',
    ...textTable(columns, [head, ...rows], paint),
    '',
    ...document.closed_loops.map(
      ({ run, users, requests_per_s: rate }) =>
        `  ${printable(run)}: ${formatCount(users)} ${noun(users, 'user')} got ${formatRate(rate.measured)}, foretold ${formatPlain(rate.value)} [${formatPlain(rate.low)}, ${formatPlain(rate.high)}] (${signed(rate.error)}${rate.inside ? '' : ', outside'})`,
    ),
    'next: fit again with these runs too, where the error is more than you can bear',
  ]
  return `${lines.join('\n')}\n`
}

function error(figure: ScoredFigure): Cell {
  return { text: signed(figure.error), ...(figure.inside ? {} : { style: 'doubtful' as const }) }
}

function range(predicted: PredictedDocument): string {
  return `${formatDuration(predicted.value)} [${formatDuration(predicted.low)}, ${formatDuration(predicted.high)}]`
}

function share(value: number | null): string {
  return value === null ? 'unknown' : formatPercent(value)
}

function sign(value: number | null): string {
  return value === null ? 'unknown' : signed(value)
}

function signed(value: number): string {
  return value > 0 ? `+${formatPercent(value)}` : formatPercent(value)
}
