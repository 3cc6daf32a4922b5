import { asRecord, member, numberOf, type DoubledKey, type JsonRecord, type JsonValue } from './json-value.ts'

/** Which value of a doubled metric was taken, in words. */
export interface DoubledChoice {
  readonly key: string
  readonly line: number
  readonly column: number
  readonly text: string
}

/**
 * The metrics of a record in which a key may stand twice. Of the combinations of doubled values the one is taken that keeps
 * request_latency = TTFT + ITL·(OSL − 1); where not exactly one does, the record cannot be believed and `metrics` is null.
 */
export function pickMetrics(
  metrics: JsonRecord,
  doubled: readonly DoubledKey[],
): { readonly metrics: JsonRecord | null; readonly choice: DoubledChoice | null } {
  const own = doubled.filter(({ holder }) => holder === metrics)
  const first = own[0]
  if (first === undefined) return { metrics, choice: null }
  const { key, line, column } = first
  const different = own.filter(({ values }) => new Set(values.map(valueText)).size > 1)
  if (different.length === 0) return { metrics, choice: { key, line, column, text: 'with the same value' } }
  const told = different.map((one) => `${one.key}: ${one.values.map(valueText).join(' and ')}`).join('; ')
  const fitting = combinations(metrics, different).filter(fits)
  if (fitting.length !== 1) {
    return {
      metrics: null,
      choice: {
        key,
        line,
        column,
        text: `${told}; ${fitting.length === 0 ? 'none' : 'more than one'} fits request_latency = TTFT + ITL × (OSL − 1), so the record was refused`,
      },
    }
  }
  const taken = fitting[0] as JsonRecord
  const text = `${told}; ${valueText(taken[key] ?? null)} was taken, which fits request_latency = TTFT + ITL × (OSL − 1)`
  return { metrics: taken, choice: { key, line, column, text } }
}

function combinations(metrics: JsonRecord, doubled: readonly DoubledKey[]): JsonRecord[] {
  let all: JsonRecord[] = [metrics]
  for (const { key, values } of doubled.slice(0, 6)) {
    const distinct = [...new Map(values.map((value) => [valueText(value), value])).values()]
    all = all.flatMap((one) => distinct.map((value) => ({ ...one, [key]: value })))
  }
  return all
}

function fits(metrics: JsonRecord): boolean {
  const value = (name: string): number | null => numberOf(member(metrics[name], 'value') ?? metrics[name])
  const latency = value('request_latency')
  const ttft = value('time_to_first_token')
  const tokens = value('output_sequence_length')
  const itl = value('inter_token_latency')
  if (latency === null || ttft === null || tokens === null) return false
  if (tokens <= 1) return Math.abs(latency - ttft) <= 1e-3 * Math.max(1, latency)
  if (itl === null) return false
  return Math.abs(ttft + itl * (tokens - 1) - latency) <= 1e-3 * Math.max(1, latency)
}

function valueText(value: JsonValue): string {
  const record = asRecord(value)
  const shown = record === null ? value : (record['value'] ?? null)
  const unit = typeof record?.['unit'] === 'string' ? ` ${record['unit']}` : ''
  return typeof shown === 'object' && shown !== null ? 'a list' : `${String(shown)}${unit}`
}
