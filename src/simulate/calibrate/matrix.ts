/** Inverse of a symmetric positive definite matrix by Gauss and Jordan; the diagonal is never 0 in one. */
export function inverse(of: readonly (readonly number[])[]): number[][] {
  const n = of.length
  const rows = of.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))])
  for (let pivot = 0; pivot < n; pivot++) {
    const row = rows[pivot] as number[]
    const by = row[pivot] as number
    for (let j = 0; j < 2 * n; j++) row[j] = (row[j] as number) / by
    for (let i = 0; i < n; i++) {
      if (i === pivot) continue
      const other = rows[i] as number[]
      const times = other[pivot] as number
      for (let j = 0; j < 2 * n; j++) other[j] = (other[j] as number) - times * (row[j] as number)
    }
  }
  return rows.map((row) => row.slice(n))
}

/** Lower triangle L with L·Lᵀ = the matrix; what rounding makes negative is 0. */
export function cholesky(of: readonly (readonly number[])[]): number[][] {
  const n = of.length
  const lower = Array.from({ length: n }, () => Array.from({ length: n }, () => 0))
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const a = lower[i] as number[]
      const b = lower[j] as number[]
      let sum = of[i]?.[j] ?? 0
      for (let k = 0; k < j; k++) sum -= (a[k] as number) * (b[k] as number)
      const diagonal = b[j] as number
      a[j] = i === j ? Math.sqrt(Math.max(0, sum)) : diagonal === 0 ? 0 : sum / diagonal
    }
  }
  return lower
}
