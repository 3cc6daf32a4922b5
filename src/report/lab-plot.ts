/** Pictures of character cells: braille dots and blocks, or plain ASCII where those cannot be shown. */
export interface PlotStyle {
  readonly ascii: boolean
}

const blocks = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const asciiShades = [' ', '.', ':', '-', '=', '+', '*', '#', '@']

/** Counts as a row of bars, the largest full. A count above 0 is never blank. */
export function histogramRow(counts: readonly number[], { ascii }: PlotStyle): string {
  const largest = Math.max(...counts, 1)
  const marks = ascii ? asciiShades : blocks
  return counts
    .map((count) => marks[count === 0 ? 0 : Math.max(1, Math.round((8 * count) / largest))]!)
    .join('')
}

/** A share as a bar of at most `width` cells. */
export function shareBar(share: number, width: number, { ascii }: PlotStyle): string {
  const cells = Math.min(1, Math.max(0, share)) * width
  if (ascii) return '#'.repeat(Math.round(cells))
  const eighths = Math.round(cells * 8)
  return '█'.repeat(Math.floor(eighths / 8)) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]!
}

export type PlotPoint = readonly [x: number, y: number]

export interface PlotArea {
  readonly width: number
  readonly height: number
  readonly x: readonly [low: number, high: number]
  readonly y: readonly [low: number, high: number]
}

// Dots of a braille cell by column and row: Unicode 6.0, block U+2800.
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const

/**
 * Points as lines of text, top first. Each cell is 2 × 4 dots; in ASCII a cell is one mark. Points outside the area are not drawn.
 * `series` are drawn in their order; in ASCII a later one covers an earlier one.
 */
export function dotPlot(
  series: readonly { readonly points: readonly PlotPoint[]; readonly mark: string }[],
  area: PlotArea,
  { ascii }: PlotStyle,
): readonly string[] {
  const { width, height, x, y } = area
  const [columns, rows] = ascii ? [width, height] : [2 * width, 4 * height]
  const cells = Array.from({ length: height }, () => Array.from({ length: width }, () => 0))
  const marks = Array.from({ length: height }, () => Array.from({ length: width }, () => ' '))
  for (const { points, mark } of series) {
    for (const [px, py] of points) {
      const column = place(px, x, columns)
      const fromBottom = place(py, y, rows)
      if (column === null || fromBottom === null) continue
      const row = rows - 1 - fromBottom
      if (ascii) marks[row]![column] = mark
      else cells[row >> 2]![column >> 1]! |= dots[column & 1 ? 1 : 0][row & 3]!
    }
  }
  return ascii
    ? marks.map((row) => row.join('').trimEnd())
    : cells.map((row) =>
        row
          .map((bits) => (bits === 0 ? ' ' : String.fromCodePoint(0x2800 + bits)))
          .join('')
          .trimEnd(),
      )
}

function place(value: number, [low, high]: readonly [number, number], steps: number): number | null {
  if (!Number.isFinite(value) || value < low || value > high) return null
  if (high === low) return 0
  return Math.min(steps - 1, Math.floor(((value - low) / (high - low)) * steps))
}

/** A plot with a frame of two axes: the largest and smallest y to the left, the ends of x below. */
export function framed(
  lines: readonly string[],
  labels: { readonly top: string; readonly bottom: string; readonly left: string; readonly right: string },
  width: number,
  { ascii }: PlotStyle,
): readonly string[] {
  const margin = Math.max(labels.top.length, labels.bottom.length)
  const [side, corner, line] = ascii ? ['|', '+', '-'] : ['│', '└', '─']
  const rows = lines.map((text, index) => {
    const label = index === 0 ? labels.top : index === lines.length - 1 ? labels.bottom : ''
    return `${label.padStart(margin)} ${side}${text}`.trimEnd()
  })
  const gap = Math.max(1, width - labels.left.length - labels.right.length)
  return [
    ...rows,
    `${' '.repeat(margin)} ${corner}${line.repeat(width)}`,
    `${' '.repeat(margin + 2)}${labels.left}${' '.repeat(gap)}${labels.right}`,
  ]
}

const plainSigns: Readonly<Record<string, string>> = {
  '÷': '/',
  '×': 'x',
  '−': '-',
  '≤': '<=',
  '≥': '>=',
  '±': '+-',
  λ: 'lambda',
  μ: 'mu',
  ρ: 'rho',
  σ: 'sigma',
  κ: 'kappa',
  '·': '|',
  '…': '...',
  '→': '->',
  '▸': '>',
  '–': '-',
  '√': 'sqrt',
  '²': '2',
  '∞': 'inf',
  '⌊': 'floor(',
  '⌋': ')',
  '″': '"',
  µ: 'u',
}

/** The same text in ASCII alone, for terminals that have nothing else. */
export function asciiText(text: string): string {
  return Array.from(text, (sign) => (sign.charCodeAt(0) < 0x80 ? sign : (plainSigns[sign] ?? '?'))).join('')
}
