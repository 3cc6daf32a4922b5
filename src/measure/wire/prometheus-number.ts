/**
 * The numbers of the Prometheus text format: decimal, `NaN`, `Inf`, `+Inf`, `-Inf` (any case, as Go's parser has it). Hexadecimal
 * floats and digit groups (`0x1p-2`, `1_000`), which Go takes in some settings, are refused. Null: not a number of the format.
 */
export function parsePrometheusNumber(text: string): number | null {
  if (decimal.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : null
  }
  if (infinity.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return notANumber.test(text) ? Number.NaN : null
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const infinity = /^[+-]?inf(?:inity)?$/i
const notANumber = /^[+-]?nan$/i

/**
 * A number as Python's client library prints it, which is what vLLM's `/metrics` shows: `5.0`, `0.001`, `1.7e+09`, `+Inf`.
 * Integers keep one decimal; from seven integer digits on, the exponent is written with a sign and two digits.
 */
export function formatPrometheusNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  const magnitude = Math.abs(value)
  if (magnitude !== 0 && (magnitude >= 1e6 || magnitude < 1e-4)) {
    const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
    const digits = exponent.slice(1)
    return `${mantissa}e${exponent[0]}${digits.padStart(2, '0')}`
  }
  const text = String(value)
  return text.includes('.') ? text : `${text}.0`
}

/**
 * A threshold as people write it, in the unit of the metric (seconds): `0.5`, `1.00`, `5e0`, `500ms`, `2s`, `1m`. The decimal point
 * is moved in the text, so that `30ms` is the same double as `0.03`. Null: cannot be read.
 */
export function parseBucketThreshold(text: string): number | null {
  const found = /^\s*([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+))?\s*(ns|us|µs|ms|s|m|min|h)?\s*$/.exec(text)
  if (found === null) return parsePrometheusNumber(text.trim())
  const [, mantissa, exponent, unit] = found
  const [shift, factor] = unitScales[unit ?? 's'] ?? [0, 1]
  return Number(`${mantissa}e${Number(exponent ?? 0) + shift}`) * factor
}

const unitScales: Readonly<Record<string, readonly [shift: number, factor: number]>> = {
  ns: [-9, 1],
  us: [-6, 1],
  µs: [-6, 1],
  ms: [-3, 1],
  s: [0, 1],
  m: [0, 60],
  min: [0, 60],
  h: [0, 3600],
}
