import { standardNormal, type Random } from '../../base/random.ts'
import type { EngineConfig } from './engine-config.ts'
import type { EngineDisturbance } from './engine-interface.ts'
import type { SchedulerCore } from './scheduler-core.ts'
import { segmentEndMs, StepLog } from './step-log.ts'

/**
 * How long each step takes. The steps of one unchanged set of decoding rows are reckoned from where their series began,
 * not one from the other, so that their ends are the same to the last bit whether they are taken one by one or at once.
 */
export class StepClock {
  readonly log: StepLog = new StepLog()
  startMs = 0
  endMs = 0
  steps = 0
  private readonly config: EngineConfig
  private readonly random: Random
  private readonly disturbance: EngineDisturbance | null
  /** The scheduler's `lockstepChanges` when the series began; −1 outside a series. */
  private seriesChanges = -1
  private originMs = 0
  private baseMs = 0
  private slopeMs = 0
  private seriesSteps = 0
  /** No fault touches what ends by then. */
  private calmUntilMs: number = Number.POSITIVE_INFINITY

  constructor(config: EngineConfig, random: Random, disturbance: EngineDisturbance | null) {
    this.config = config
    this.random = random
    this.disturbance = disturbance
  }

  /** Starts the step that the scheduler has built. */
  start(scheduler: SchedulerCore, startMs: number): void {
    this.startMs = startMs
    const { disturbance } = this
    this.calmUntilMs =
      disturbance === null ? Number.POSITIVE_INFINITY : disturbance.undisturbedUntilMs(this.steps, startMs)
    if (scheduler.stepIsPureDecode && this.config.jitterSigma === 0) this.startInSeries(scheduler, startMs)
    else {
      this.seriesChanges = -1
      this.endMs = startMs + this.workMs(scheduler) * this.jitter()
      this.log.push(this.endMs, 0, 0)
    }
    if (disturbance !== null && this.endMs > this.calmUntilMs) {
      this.endMs = disturbance.stepEndMs(this.steps, startMs, this.endMs - startMs)
      this.leaveSeries()
    }
    this.steps += 1
  }

  /** End of the step `more` steps after this one, if nothing changes until then; null where that is not known. */
  endAfterMs(more: number): number | null {
    if (this.seriesChanges === -1) return null
    const endMs = this.stepEndMs(more)
    return endMs <= this.calmUntilMs ? endMs : null
  }

  /**
   * How many steps on the last one is that starts before `beforeMs` and that no fault touches, if nothing changes until then; at
   * most `most`, 0 where that is not known.
   */
  stepsStartedBefore(beforeMs: number, most: number): number {
    if (this.seriesChanges === -1 || most <= 0 || !Number.isFinite(most)) return 0
    // Ends only grow from step to step: halve what is left between a step that is known to be in and one that is not.
    let within = 0
    let beyond = most + 1
    while (beyond - within > 1) {
      const more = (within + beyond) >>> 1
      if (this.stepEndMs(more - 1) < beforeMs && this.stepEndMs(more) <= this.calmUntilMs) within = more
      else beyond = more
    }
    return within
  }

  private stepEndMs(more: number): number {
    return segmentEndMs(this.originMs, this.baseMs, this.slopeMs, this.seriesSteps + more)
  }

  /** The running step is now the one so many steps on, in the same series. */
  skip(steps: number): void {
    this.log.extend(steps)
    this.steps += steps
    this.seriesSteps += steps
    this.startMs = segmentEndMs(this.originMs, this.baseMs, this.slopeMs, this.seriesSteps - 1)
    this.endMs = segmentEndMs(this.originMs, this.baseMs, this.slopeMs, this.seriesSteps)
  }

  /** The running step is one by itself after all. */
  private leaveSeries(): void {
    this.seriesChanges = -1
    this.log.replaceLastStep(this.endMs)
  }

  private startInSeries(scheduler: SchedulerCore, startMs: number): void {
    if (this.seriesChanges === scheduler.lockstepChanges) this.log.extend()
    else {
      this.seriesChanges = scheduler.lockstepChanges
      this.originMs = startMs
      this.baseMs = this.workMs(scheduler)
      this.slopeMs = this.config.stepTime.perContextTokenMs * scheduler.lockstep.rows
      this.seriesSteps = 0
      this.log.push(startMs, this.baseMs, this.slopeMs)
    }
    this.seriesSteps += 1
    this.endMs = segmentEndMs(this.originMs, this.baseMs, this.slopeMs, this.seriesSteps)
  }

  /** `stepTimeMs` of the step, written out here, where no object is made for it. */
  private workMs(scheduler: SchedulerCore): number {
    const model = this.config.stepTime
    const over = scheduler.stepTokens - model.kneeTokens
    return (
      model.baseMs +
      (over > 0 ? model.perTokenMs * over : 0) +
      model.perContextTokenMs * scheduler.stepContextTokens +
      model.perPairMs * scheduler.stepPrefillPairs +
      model.perSequenceMs * scheduler.stepRows
    )
  }

  /** exp(σZ − σ²/2): log-normal with mean 1. */
  private jitter(): number {
    const sigma = this.config.jitterSigma
    return sigma === 0 ? 1 : Math.exp(sigma * standardNormal(this.random) - (sigma * sigma) / 2)
  }
}
