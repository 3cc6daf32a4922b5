import { normalQuantile } from './normal.ts'
import { tQuantile } from './student-t.ts'

/** Numbers of batches whose means are looked at for slow memory. */
const batchCounts = [10, 20, 40] as const
/** Shorter batches say nothing that Sokal's window does not. */
const shortestBatch = 5
/** How much wider an interval by Student's t of so many batch means is than one by the normal, squared. */
const widening = batchCounts.map((batches) => (tQuantile(0.975, batches - 1) / normalQuantile(0.975)) ** 2)

/**
 * b·Var(batch mean) ÷ Var(value), the autocorrelation time of a series by the means of `batches` batches of b values (Law and Carson,
 * "A sequential procedure for determining the length of a steady-state simulation", 1979). Null for batches under five values, and
 * where nothing varies.
 */
export function batchMeansTime(values: ArrayLike<number>, batches: number): number | null {
  const length = Math.floor(values.length / batches)
  if (length < shortestBatch || batches < 2) return null
  const means = new Float64Array(batches)
  let total = 0
  for (let batch = 0; batch < batches; batch++) {
    let sum = 0
    for (let i = batch * length; i < (batch + 1) * length; i++) sum += values[i] as number
    means[batch] = sum / length
    total += sum
  }
  const centre = total / (batches * length)
  let squares = 0
  for (let i = 0; i < batches * length; i++) squares += ((values[i] as number) - centre) ** 2
  if (squares === 0) return null
  const between = means.reduce((sum, each) => sum + (each - centre) ** 2, 0)
  return (length * between) / (batches - 1) / (squares / (batches * length))
}

/** The largest autocorrelation time by 10, 20 and 40 batches; 0 for a series too short for any. */
export function longestBatchTime(values: ArrayLike<number>): number {
  return Math.max(0, ...batchCounts.map((batches) => batchMeansTime(values, batches) ?? 0))
}

/**
 * The same, each time multiplied by (t ÷ z)² of its degrees of freedom: few batches see the longest memory and know its size
 * badly, and an interval that takes this time is as wide as Student's t of those batches would make it. A queue behind long requests
 * has a fast part, which closes Sokal's window at once, and a slow one that only long batches show.
 */
export function slowMemory(values: ArrayLike<number>): number {
  return Math.max(
    0,
    ...batchCounts.map((batches, at) => (batchMeansTime(values, batches) ?? 0) * (widening[at] as number)),
  )
}
