/** Requests of a steady arrival stream that two ways of counting a window keep. */
export interface WindowCounts {
  /** Started and finished inside: drops the last ones, the long ones first. */
  readonly finishedInside: number
  /** Arrived inside, then drained. */
  readonly arrived: number
}

/** Arrivals at 0, 1/rate, 2/rate … before `windowSeconds`, each `serviceSeconds` long. */
export function windowCounts(
  windowSeconds: number,
  serviceSeconds: number,
  ratePerSecond: number,
): WindowCounts {
  const arrived = Math.ceil(windowSeconds * ratePerSecond)
  const inside = Math.floor((windowSeconds - serviceSeconds) * ratePerSecond) + 1
  return { finishedInside: Math.max(0, Math.min(arrived, inside)), arrived }
}
