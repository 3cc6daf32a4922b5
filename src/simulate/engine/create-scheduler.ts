import type { Random } from '../../base/random.ts'
import { PlimsollError } from '../../base/errors.ts'
import { AheadScheduler } from './ahead-scheduler.ts'
import type { EngineConfig } from './engine-config.ts'
import { Scheduler } from './scheduler.ts'
import type { SchedulerCore, SchedulerSink } from './scheduler-core.ts'
import { SglangScheduler } from './sglang-scheduler.ts'
import { StaticScheduler } from './static-scheduler.ts'

export interface SchedulerOptions {
  /** Walks every row in every step where there is a faster way. */
  readonly rowByRow: boolean
  /** Draws which drafted tokens are accepted. */
  readonly acceptance: Random | null
}

/**
 * The scheduler that a configuration asks for. Only plain vLLM skips over steps (in lockstep); the others walk every row in every step.
 * Throws PLIM_ENGINE where drafts are to be drawn without `acceptance`.
 */
export function createScheduler(
  config: EngineConfig,
  sink: SchedulerSink,
  { rowByRow, acceptance }: SchedulerOptions,
): SchedulerCore {
  if (config.policy === 'sglang') return new SglangScheduler(config, sink)
  if (config.policy === 'static') return new StaticScheduler(config, sink)
  const { speculative, asyncScheduling } = config
  if (speculative === null && !asyncScheduling) return new Scheduler(config, sink, rowByRow)
  if (speculative !== null && acceptance === null) {
    throw new PlimsollError('PLIM_ENGINE', 'speculative decoding draws which tokens are accepted', {
      expected: 'a stream of random numbers, EngineOptions.acceptance',
      received: 'none',
    })
  }
  return new AheadScheduler(config, sink, acceptance)
}

/**
 * A configuration as its scheduler counts: the time of a host that does not schedule ahead is in every step, and no prompt is too long
 * for a step of a static batch.
 */
export function scheduledConfig(config: EngineConfig): EngineConfig {
  const { asyncScheduling, hostMs, policy, stepTime } = config
  // One object for a hundred replicas stays in the processor's cache.
  if (policy !== 'static' && (asyncScheduling || hostMs === 0)) return config
  return {
    ...config,
    enableChunkedPrefill: config.enableChunkedPrefill || policy === 'static',
    hostMs: asyncScheduling ? hostMs : 0,
    stepTime: asyncScheduling ? stepTime : { ...stepTime, baseMs: stepTime.baseMs + hostMs },
  }
}
