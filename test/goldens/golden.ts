import { readFileSync } from 'node:fs'
import { PlimsollError } from '../../src/base/errors.ts'

/** A numeric truth: what goes in, what must come out, and how closely. */
export interface Golden {
  readonly id: string
  readonly question: string
  readonly inputs: unknown
  readonly expected: unknown
  readonly tolerance: { readonly rel?: number; readonly abs?: number }
  readonly how: string
}

/** How an entry is computed; each names the inputs that it reads. */
export type Compute = (inputs: never) => unknown

export function readGoldens(): readonly Golden[] {
  return JSON.parse(readFileSync(new URL('./goldens.json', import.meta.url), 'utf8')) as readonly Golden[]
}

/** Every place where the actual value is not the expected one, as sentences. */
export function differences(
  actual: unknown,
  expected: unknown,
  tolerance: Golden['tolerance'],
  path = '',
): readonly string[] {
  const said = `${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`
  if (expected === 'Infinity' || expected === '-Infinity') {
    return actual === expected || actual === Number(expected) ? [] : [said]
  }
  if (typeof expected === 'number') {
    if (typeof actual !== 'number') return [said]
    const allowed = Math.max(tolerance.abs ?? 0, (tolerance.rel ?? 0) * Math.abs(expected))
    return Math.abs(actual - expected) <= allowed ? [] : [said]
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [said]
    return expected.flatMap((value, i) => differences(actual[i], value, tolerance, `${path}[${i}]`))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return [said]
    const found = Object.entries(expected).flatMap(([key, value]) =>
      differences((actual as Record<string, unknown>)[key], value, tolerance, `${path}.${key}`),
    )
    const extra = Object.keys(actual).filter((key) => !(key in expected))
    return [...found, ...extra.map((key) => `${path}.${key} is not expected`)]
  }
  return actual === expected ? [] : [said]
}

/** Null where the product refuses the input with one of its own errors. */
export function refusedAsNull<T>(compute: () => T): T | null {
  try {
    return compute()
  } catch (error) {
    if (error instanceof PlimsollError) return null
    throw error
  }
}

/** 0, 1, … count − 1 through a function. */
export function series(count: number, value: (i: number) => number): number[] {
  return Array.from({ length: count }, (_, i) => value(i))
}

/** The deterministic noise of the series that the entries describe in words. */
export function noise(i: number): number {
  return (((i * 7919) % 101) - 50) / 10
}
