/** How far a load test has come, at most four times a second. Null: not known (yet). */
export interface RunProgress {
  /** What is being done: "warming up", "measuring", "draining"; in a sweep "point 3 of 8: 16 users". */
  readonly label: string
  readonly elapsedMs: number
  /** The planned length, or null where a count ends it. */
  readonly totalMs: number | null
  readonly planned: number | null
  readonly sent: number
  readonly done: number
  readonly ok: number
  readonly failed: number
  readonly shed: number
  readonly askedPerSecond: number | null
  readonly sentPerSecond: number | null
  readonly ttftP50Ms: number | null
  readonly tpotP50Ms: number | null
  readonly lagP99Ms: number | null
  readonly leftMs: number | null
}
