import { unsentRow } from '../record/made-rows.ts'
import type { RequestRow } from '../record/request-row.ts'
import type { PlannedRequest } from '../workload/planned-request.ts'
import type { LoadWindow } from './load-options.ts'
import { phaseOf } from './load-window.ts'
import type { Finished, UnsentReason } from './thread-messages.ts'

/** The plan's columns of a row: everything of a planned request but its body. */
export type PlannedColumns = Omit<PlannedRequest, 'body'>

const unsentMessages: Record<UnsentReason, string> = {
  window_ended: 'the window ended before it was sent',
  drain_ended: 'the drain ended before a connection was free for it',
  interrupted: 'the run was interrupted before it was sent',
  stopped_early: 'the run was stopped early, before it was sent',
  worker_crashed: 'its worker thread died before it was sent',
}

/** The row of a request: the plan's columns joined with what became of it. */
export function joinedRow(
  planned: PlannedColumns,
  finished: Finished,
  worker: number | null,
  window: LoadWindow,
  idPrefix: string,
): RequestRow {
  const fields =
    'unsent' in finished
      ? emptyFields(finished.plannedMs, 'unsent', null, finished.unsent, unsentMessages[finished.unsent])
      : finished.fields
  return { ...fields, ...planColumns(planned, worker, fields.planned_ms, window, idPrefix) }
}

/** The row of a request whose worker died while it was in flight: failed, because no one can say how it would have ended. */
export function crashedRow(
  planned: PlannedColumns,
  times: { readonly plannedMs: number; readonly sentMs: number },
  worker: number,
  window: LoadWindow,
  idPrefix: string,
): RequestRow {
  return {
    ...emptyFields(times.plannedMs, 'failed', 'worker_crashed', null, 'the worker thread that held it died'),
    sent_ms: times.sentMs,
    lag_ms: times.sentMs - times.plannedMs,
    ...planColumns(planned, worker, times.plannedMs, window, idPrefix),
  }
}

/** The id of a request, which is also its `x-request-id`. */
export function requestId(idPrefix: string, index: number): string {
  return `${idPrefix}${index}`
}

function planColumns(
  planned: PlannedColumns,
  worker: number | null,
  plannedMs: number | null,
  window: LoadWindow,
  idPrefix: string,
): Pick<
  RequestRow,
  'id' | 'phase' | 'worker' | 'prompt_id' | 'segment' | 'session' | 'turn' | 'asked_output_tokens'
> {
  return {
    id: requestId(idPrefix, planned.index),
    phase: phaseOf(plannedMs, window),
    worker,
    prompt_id: planned.promptId,
    segment: planned.segment,
    session: planned.session,
    turn: planned.turn,
    asked_output_tokens: planned.askedOutputTokens,
  }
}

/** A row of which nothing is known but that it was planned and why there is no more. */
function emptyFields(
  plannedMs: number | null,
  outcome: 'unsent' | 'failed',
  errorKind: string | null,
  errorCode: string | null,
  errorMessage: string,
): RequestRow {
  return {
    ...unsentRow,
    planned_ms: plannedMs,
    outcome,
    error_kind: errorKind,
    error_code: errorCode,
    error_message: errorMessage,
  }
}
