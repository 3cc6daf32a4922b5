/** Numbers that are gone through as often as need be and need not be in memory at once: in pieces, each time in the same order. */
export interface ValueSource {
  readonly length: number
  /** A piece lives only while it is visited: what is to be kept is copied. */
  each(visit: (values: Float64Array) => void): void
}

/** An array as such a source: one piece. */
export function sourceOf(values: Float64Array): ValueSource {
  return { length: values.length, each: (visit) => visit(values) }
}
