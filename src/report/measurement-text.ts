import { noun } from '../base/noun.ts'
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatPlain,
  formatRate,
  formatSpan,
} from '../base/units.ts'
import { commandLine, planCommand } from './command-line.ts'
import type { MeasurementDocument, MeasurementPoint } from './measurement-document.ts'
import { coefficientWords } from './model-text.ts'
import { painter, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'
import { savedWords } from './saved-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

const columns: readonly Column[] = [
  { align: 'right', gap: 2 },
  ...Array.from({ length: 7 }, (): Column => ({ align: 'right', gap: 3 })),
]

const wallWords: Readonly<Record<MeasurementDocument['asked']['wall'], string>> = {
  capacity: 'one replica carries',
  slo: 'the TPOT limit is met at',
  memory: 'the KV pool is full at',
  saturation: 'the engine is saturated at',
}

/** A measurement: the wall with its interval, the points and what each was chosen for, what is still open. */
export function renderMeasurement(
  document: MeasurementDocument,
  options: Pick<RenderOptions, 'color' | 'isStored'>,
  savedTo: string | null,
): string {
  const paint = painter(options.color)
  const { asked, wall_per_s: wall, half_width: half, points } = document
  const head = ['users', 'prompt', 'answer', 'n', 'TTFT', 'TPOT', 'foretold', 'wall known to'].map(
    (text): Cell => ({ text }),
  )
  const enough = half !== null && half <= asked.target
  const limit = asked.tpot_limit_ms === null ? '' : ` with TPOT within ${formatDuration(asked.tpot_limit_ms)}`
  const headline =
    wall === null || half === null
      ? 'nothing is known of the wall'
      : `${wallWords[asked.wall]} ${formatRate(wall.value)} [${formatPlain(wall.low)}, ${formatPlain(wall.high)}] of prompts ${asked.prompt}, answers ${asked.output}${limit}: known to ${paint(enough ? 'good' : 'doubtful', `± ${formatPercent(half)}`)}`
  const lines = [
    headline,
    '',
    ...textTable(columns, [head, ...points.map(pointRow)], paint),
    '',
    `  ${endText(document)}`,
    ...(document.not_known.length === 0
      ? []
      : [
          paint(
            'doubtful',
            `  not told by these points: ${document.not_known.map(coefficientWords).join('; ')}`,
          ),
        ]),
    `  ${printable(document.target.model ?? 'a model')} at ${document.target.embedded ? 'the embedded engine' : printable(document.target.url)}; each point is a run folder in ${printable(document.folder)}`,
    nextLine(document, options, savedTo),
  ]
  return `${lines.join('\n')}\n`
}

function pointRow(point: MeasurementPoint): Cell[] {
  const { foretold, half_width: half } = point
  const time = (ms: number | null): string => (ms === null ? '–' : formatDuration(ms))
  return [
    { text: formatCount(point.users) },
    { text: formatCount(point.prompt_tokens) },
    { text: formatCount(point.output_tokens) },
    { text: formatCount(point.answered) },
    { text: time(point.ttft_ms) },
    { text: time(point.tpot_ms) },
    { text: foretold === null ? '' : `± ${formatPercent(foretold.after)}` },
    { text: half === null ? '' : `± ${formatPercent(half)}` },
  ]
}

function endText({ ended, asked, seconds, points }: MeasurementDocument): string {
  const spent = `${points.length} ${noun(points.length, 'point')} in ${formatSpan(Math.round(seconds) * 1000)}`
  const wanted = `± ${formatPercent(asked.target)}`
  switch (ended) {
    case 'target':
      return `${spent}: the wall is known to the ${wanted} that was asked for`
    case 'points':
      return `${spent}: no more points were allowed (--points); ${wanted} was asked for`
    case 'time':
      return `${spent}: no time was left for another (--max-duration); ${wanted} was asked for`
    case 'interrupted':
      return `${spent}: interrupted; ${wanted} was asked for`
    case 'not stored':
      return `${spent}: nothing more could be written; ${wanted} was asked for`
    default:
      return `${spent}: no other load would tell more; ${wanted} was asked for`
  }
}

/** Where the model is, and what to ask it; what is not stored is said. `savedTo` was written apart from the folder, and before this. */
function nextLine(
  document: MeasurementDocument,
  options: Pick<RenderOptions, 'isStored'>,
  savedTo: string | null,
): string {
  const { folder, model } = document
  if (savedTo === null) {
    return savedWords(model ?? folder, options, model === null ? [] : modelCommands(document, model)).join(
      ' · ',
    )
  }
  return [
    ...savedWords(savedTo, {}, modelCommands(document, savedTo)),
    ...(options.isStored === false ? savedWords(folder, options) : []),
  ].join(' · ')
}

function modelCommands({ asked, wall_per_s: wall }: MeasurementDocument, model: string): readonly string[] {
  const lengths = ['--prompt', asked.prompt, '--output', asked.output]
  const limit = asked.tpot_limit_ms === null ? null : `${asked.tpot_limit_ms}ms`
  const rate = wall === null ? 'RATE' : `${formatPlain(0.8 * wall.value)}/s`
  const predicted = [model, '--rate', rate, ...lengths, ...(limit === null ? [] : ['--tpot', limit])]
  const predict = commandLine('model', 'predict', ...predicted)
  // A rate that no limit holds back is none to plan on.
  if (wall === null || (asked.wall !== 'capacity' && asked.wall !== 'slo')) return [predict]
  const objective = limit === null ? 'OBJECTIVE' : `tpot < ${limit}`
  const tried = ['--simulate', '--model', model, ...lengths, '--slo', objective]
  return [predict, planCommand(['--each', `${formatPlain(wall.value)}/s`], wall.value, tried)]
}
