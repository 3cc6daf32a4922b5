import { measuredPoints, measuredRun, type MeasuredRun } from '../simulate/calibrate/measured-run.ts'
import type { ClosedLoad } from '../simulate/calibrate/measurement-design.ts'
import type { MeasurementPoint } from '../report/measurement-document.ts'
import { closedLoop, type MeasureGround } from './closed-loop.ts'

/** A point is not measured for longer than this, however slow the server is. */
export const longestPointMs = 20_000

/** One closed loop as it was measured. */
export interface MeasuredLoop {
  readonly name: string
  readonly load: ClosedLoad
  readonly answered: number
  readonly seconds: number
  /** Null where nothing was answered. */
  readonly run: MeasuredRun | null
}

/** Measures equal requests of users who wait for their answers, first sends spread over `staggerMs`; its run folder lies inside `folder`. */
export async function measureLoop(
  ground: MeasureGround,
  load: ClosedLoad,
  { name, label, staggerMs }: { readonly name: string; readonly label: string; readonly staggerMs: number },
): Promise<MeasuredLoop> {
  const { rows, pacer, fromMs } = await closedLoop(ground, {
    users: load.users,
    staggerMs,
    promptTokens: load.promptTokens,
    outputTokens: load.outputTokens,
    count: load.requests,
    durationMs: longestPointMs,
    name,
    label,
  })
  const answered = rows.filter((row) => row.ok && row.ttft_ms !== null && row.phase === 'measure').length
  return {
    name,
    load,
    answered,
    seconds: (ground.deps.clock.nowMs() - fromMs) / 1000,
    run: answered === 0 ? null : measuredRun(name, pacer, rows),
  }
}

/** Its part of the document. */
export function pointDocument({
  name,
  load,
  answered,
  seconds,
  run,
}: MeasuredLoop): Omit<MeasurementPoint, 'foretold' | 'half_width'> {
  const [point] = run === null ? [] : measuredPoints(run)
  return {
    run: name,
    prompt_tokens: load.promptTokens,
    output_tokens: load.outputTokens,
    users: load.users,
    answered,
    seconds,
    ttft_ms: point?.ttftMs ?? null,
    tpot_ms: point?.tpotMs ?? null,
  }
}
