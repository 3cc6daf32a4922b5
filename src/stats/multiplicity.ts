/** Holm's adjusted p values (1979), in the order given: the chance of any false alarm stays below α. */
export function holm(ps: readonly number[]): number[] {
  const order = ascending(ps)
  const adjusted = Array.from(ps)
  let running = 0
  order.forEach((index, position) => {
    running = Math.max(running, Math.min(1, (ps.length - position) * (ps[index] as number)))
    adjusted[index] = running
  })
  return adjusted
}

/** Benjamini and Hochberg's adjusted p values (1995), in the order given: for exploration. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  const order = ascending(ps)
  const adjusted = Array.from(ps)
  let running = 1
  for (let position = order.length - 1; position >= 0; position--) {
    const index = order[position] as number
    running = Math.min(running, ((ps[index] as number) * ps.length) / (position + 1))
    adjusted[index] = running
  }
  return adjusted
}

/** Chance of at least one false alarm over independent tests at α: 1 − (1 − α)^tests. */
export function familyWiseError(tests: number, alpha: number): number {
  return -Math.expm1(tests * Math.log1p(-alpha))
}

function ascending(ps: readonly number[]): number[] {
  return ps.map((_, i) => i).sort((a, b) => (ps[a] as number) - (ps[b] as number))
}
