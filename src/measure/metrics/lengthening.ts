import { formatSpan } from '../../base/units.ts'

/** What the run was asked to end by. With both, the first of them ends it. */
export interface RunEnds {
  readonly count: boolean
  readonly duration: boolean
}

/**
 * The flags with which a run like this one would have `needed` answers: the count where a count ends it, and where a duration does,
 * the time that they take at the rate at which the window's `had` came.
 */
export function lengthening(ends: RunEnds, needed: number, had: number, windowMs: number): string {
  const flags = [
    ...(ends.count || !ends.duration ? [`--num-prompts ${needed}`] : []),
    ...(ends.duration && windowMs > 0 ? [`--duration ${readableSpan((needed / had) * windowMs)}`] : []),
  ]
  return flags.length === 0 ? 'a longer --duration' : flags.join(' ')
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Up to each span, the step that people count in. */
const steps = [
  [minute, 5 * second],
  [2 * minute, 10 * second],
  [20 * minute, minute],
  [2 * hour, 5 * minute],
  [8 * hour, 30 * minute],
  [Number.POSITIVE_INFINITY, hour],
] as const

/** A span at least as long, in a round number of its own units. */
function readableSpan(ms: number): string {
  const [, step] = steps.find(([upTo]) => ms <= upTo) ?? steps[steps.length - 1]!
  return formatSpan(Math.ceil(ms / step) * step)
}
