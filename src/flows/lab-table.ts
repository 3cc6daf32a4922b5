import { PlimsollError } from '../base/errors.ts'
import type { MetricSummary } from '../measure/metrics/run-summary.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { TestedLoad } from './lab-walls.ts'

const columns: Readonly<Record<string, readonly string[]>> = {
  load: ['concurrency', 'users', 'load', 'n', 'in_flight', 'max_concurrency'],
  tokens: ['tok_per_s', 'tokens_per_s', 'output_tokens_per_s', 'output_throughput', 'throughput', 'tok/s'],
  tpot: ['p99_tpot_ms', 'tpot_p99_ms', 'tpot_ms', 'tpot'],
  ttft: ['p99_ttft_ms', 'ttft_p99_ms', 'ttft_ms', 'ttft'],
}

/**
 * Points from a table: CSV (commas, semicolons, tabs or bars) with a header, or a JSON list of objects. Columns are users and
 * tokens a second, and where known the P99 of TPOT and TTFT in ms. Throws PLIM_FILE with the place of what cannot be read.
 */
export function readLoadTable(text: string, file: string): readonly TestedLoad[] {
  const rows = text.trimStart().startsWith('[') ? jsonRows(text, file) : textRows(text, file)
  if (rows.length === 0) throw new PlimsollError('PLIM_FILE', `${file} has no rows`, { where: { file } })
  return rows
}

function jsonRows(text: string, file: string): TestedLoad[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', `${file} is not JSON`, {
      received: (cause as Error).message,
      where: { file },
      cause,
    })
  }
  return (list as readonly unknown[]).map((one, index) => {
    const entries = Object.entries((one ?? {}) as Record<string, unknown>)
    const names = entries.map(([name]) => name.toLowerCase())
    const values = entries.map(([, value]) =>
      typeof value === 'number' || typeof value === 'string' ? String(value) : '',
    )
    return rowOf(names, values, { file, line: index + 1 })
  })
}

function textRows(text: string, file: string): TestedLoad[] {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }))
  const used = lines.filter(({ line }) => line !== '' && !line.startsWith('#') && !/^[|\s:-]+$/.test(line))
  const [head, ...body] = used
  if (head === undefined) return []
  const separator = [',', ';', '\t', '|'].find((one) => head.line.includes(one)) ?? /\s+/
  const cells = (line: string): string[] =>
    line
      .replace(/^\||\|$/g, '')
      .split(separator)
      .map((cell) => cell.trim())
  const names = cells(head.line).map((name) => name.toLowerCase())
  return body.map(({ line, number }) => rowOf(names, cells(line), { file, line: number }))
}

function rowOf(
  names: readonly string[],
  values: readonly string[],
  where: { file: string; line: number },
): TestedLoad {
  const cell = (column: string): string | undefined => {
    const at = names.findIndex((name) => columns[column]!.includes(name))
    return at < 0 ? undefined : values[at]
  }
  const number = (column: string, needed: boolean): number | null => {
    const text = cell(column) ?? ''
    if (text === '' || text === '-' || text === '–') {
      if (!needed) return null
      throw new PlimsollError('PLIM_FILE', `a row has no ${columns[column]![0]}`, {
        expected: `a column called ${columns[column]!.join(', ')}`,
        received: names.join(', '),
        where,
      })
    }
    const value = Number(text)
    if (Number.isFinite(value) && value >= 0) return value
    throw new PlimsollError('PLIM_FILE', `${JSON.stringify(text)} is not a number`, {
      expected: 'a number without a unit; times in ms',
      where,
    })
  }
  return {
    load: number('load', true)!,
    tokens_per_s: number('tokens', true)!,
    p99_tpot_ms: number('tpot', false),
    p99_ttft_ms: number('ttft', false),
    p99_tpot_upper_ms: null,
    p99_ttft_upper_ms: null,
    n: null,
  }
}

/** Points of a measured sweep. Those that were not used, or gave no throughput, are left out. */
export function loadsOfSweep(document: SweepDocument): readonly TestedLoad[] {
  return document.points.flatMap(({ load, throughput, metrics, verdict }) => {
    const tokens = throughput.output_tokens_per_s
    if (tokens === null || load.kind !== 'concurrency' || verdict.status === 'INVALID') return []
    const { tpot_ms: tpot, ttft_ms: ttft } = metrics
    return [
      {
        load: load.value,
        tokens_per_s: tokens,
        p99_tpot_ms: tpot?.p99 ?? null,
        p99_ttft_ms: ttft?.p99 ?? null,
        p99_tpot_upper_ms: upperEnd(tpot),
        p99_ttft_upper_ms: upperEnd(ttft),
        n: tpot?.n ?? null,
      },
    ]
  })
}

/** The end that the sweep judged its objective by; sweeps written before it was kept have that of the interval. */
function upperEnd(summary: MetricSummary | undefined): number | null {
  return summary?.upper?.['p99'] ?? summary?.ci['p99']?.[1] ?? null
}
