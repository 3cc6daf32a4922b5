import type { LoadProgress } from '../measure/load/progress.ts'
import type { RunProgress } from '../report/progress.ts'
import type { RunConfig } from './options/run-config.ts'

/** The load generator's progress in the words of the status line. */
export function runProgress(
  config: Pick<RunConfig, 'pacer' | 'durationMs' | 'warmup'>,
  progress: LoadProgress,
  label?: string,
): RunProgress {
  const warmupMs = config.warmup.kind === 'fixed' ? config.warmup.ms : 0
  const totalMs = config.durationMs === null ? null : warmupMs + config.durationMs
  const phase =
    progress.elapsedMs < warmupMs
      ? 'warming up'
      : totalMs !== null && progress.elapsedMs > totalMs
        ? 'draining'
        : 'measuring'
  return {
    label: label ?? phase,
    elapsedMs: progress.elapsedMs,
    totalMs,
    planned: progress.planned,
    sent: progress.sent,
    done: progress.done,
    ok: progress.ok,
    failed: progress.failed,
    shed: progress.shed,
    askedPerSecond: 'ratePerSecond' in config.pacer ? config.pacer.ratePerSecond : null,
    sentPerSecond: progress.rateNow,
    ttftP50Ms: progress.ttftP50Ms,
    tpotP50Ms: progress.tpotP50Ms,
    lagP99Ms: progress.lagP99Ms,
    leftMs: progress.etaMs,
  }
}
