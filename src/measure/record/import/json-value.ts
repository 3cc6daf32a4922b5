/**
 * A value of a result file as it was written: numbers that are no JSON (`NaN`, `Infinity`) are themselves, whole numbers that a
 * double cannot hold are bigints, so that nanoseconds since 1970 stay exact.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

export type JsonRecord = Readonly<Record<string, JsonValue>>

/** A key that stands twice in one object: which object, and all its values in their order. The object has the last. */
export interface DoubledKey {
  readonly holder: JsonRecord
  readonly key: string
  readonly values: readonly JsonValue[]
  readonly line: number
  readonly column: number
}

export function asRecord(value: JsonValue | undefined): JsonRecord | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : null
}

export function asList(value: JsonValue | undefined): readonly JsonValue[] | null {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : null
}

/** The member behind a path of keys, or undefined. */
export function member(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let at = value
  for (const key of path) at = asRecord(at)?.[key]
  return at
}

/** A finite number; null for everything else, NaN and infinities too: they stand for "there is none". */
export function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)) return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A whole number of at least 0, as counts and token numbers are. */
export function countOf(value: JsonValue | undefined): number | null {
  const number = numberOf(value)
  return number !== null && number >= 0 && number < 2 ** 31 ? Math.round(number) : null
}

/** A whole number, exactly. */
export function wholeOf(value: JsonValue | undefined): bigint | null {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : null
}

export function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The finite numbers of a list, each times `factor`; null where there is no list. */
export function numbersOf(value: JsonValue | undefined, factor = 1): readonly number[] | null {
  const list = asList(value)
  if (list === null) return null
  // As long as the list from the start: one that grows takes half as much again. And made new, for a copy of the list would keep its kind:
  // where the same parser read strings and objects before, every number of it is an object of its own, three times as large.
  // oxlint-disable-next-line unicorn/no-new-array
  const numbers = new Array<number>(list.length)
  let at = 0
  for (const one of list) {
    const number = typeof one === 'number' ? one : (numberOf(one) ?? Number.NaN)
    if (Number.isFinite(number)) numbers[at++] = number * factor
  }
  numbers.length = at
  return numbers
}

/** `end − start` of two moments in ns, in ms: exact, since the difference is taken before it is rounded. */
export function nsBetweenMs(start: bigint, end: bigint): number {
  const ns = end - start
  return Number(ns / 1_000_000n) + Number(ns % 1_000_000n) / 1e6
}
