/**
 * Jain's fairness index of what several parties got: (Σx)² ÷ (n · Σx²), 1 where all got the same, 1 ÷ n where one got everything
 * (Jain, Chiu and Hawe, DEC-TR-301, 1984). Of values ≥ 0 in any unit; null for none, or where nobody got anything.
 *
 * @example
 * jainIndex([1, 2, 3, 4]) // 0.8333333333333334
 */
export function jainIndex(values: readonly number[]): number | null {
  const largest = Math.max(0, ...values)
  if (!(largest > 0)) return null
  // Over the largest, so that no square overflows.
  const shares = values.map((value) => value / largest)
  const sum = shares.reduce((total, share) => total + share, 0)
  const squares = shares.reduce((total, share) => total + share * share, 0)
  return (sum * sum) / (shares.length * squares)
}
