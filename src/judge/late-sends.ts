/**
 * Behind how much lag a send is late, ms: max(10 ms, 5 % of the median TTFT). Below that the lag cannot matter to the figures. The
 * verdict, the trap and the warning all mean this by "late".
 */
export function lateLimitMs(medianTtftMs: number | null): number {
  return Math.max(10, 0.05 * (medianTtftMs ?? 0))
}
