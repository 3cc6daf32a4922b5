import type { WarningKind } from '../base/warnings.ts'
import type { VerdictReason } from '../judge/verdict.ts'
import type { ImportSource, ManifestWindow } from '../measure/record/manifest.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { RunDocument } from '../report/documents.ts'

/** Said of every import: how well its client kept up is in nobody's file. */
const clientUnknown: VerdictReason = {
  rule: 'client_unknown',
  status: 'DEGRADED',
  message:
    'the client that sent this load is unknown: nothing shows whether it, and not the server, set the figures',
  value: null,
  limit: null,
}

/** The reason of a file of which a part is not there. */
function fileBroken(message: string): VerdictReason {
  return { rule: 'file_broken', status: 'DEGRADED', message, value: null, limit: null }
}

/** Findings that rest on when requests were sent. */
const needsStarts: ReadonlySet<WarningKind> = new Set([
  'not_steady',
  'saturated',
  'little_violated',
  'rate_not_reached',
  'coordinated_omission',
  'keep_alive_broken',
])

/** Findings about latencies, of which a summary's rows have none. */
const needsRows: ReadonlySet<WarningKind> = new Set([
  'few_samples',
  'tokens_not_from_server',
  'survivors_only',
  'not_streamed',
])

/** Fewer requests than this say nothing of L = λ·W: the ends of the window weigh too much. */
const enoughForLittle = 30

function hasEnd(row: RequestRow): boolean {
  return row.outcome === 'unsent' || (row.done_ms !== null && row.lag_ms !== null)
}

/**
 * The document of a run that another tool made, without what its rows cannot carry: where the starts are not in the file there is no
 * order, and rates only over the tool's own duration; where the requests are not, there are only counts.
 */
export function importedDocument(
  document: RunDocument,
  source: ImportSource,
  window: ManifestWindow | null,
  rows: Rows,
): RunDocument {
  const { starts_known: startsKnown, rows_known: rowsKnown } = source
  const littleKnown = startsKnown && rows.length >= enoughForLittle && rows.every(hasEnd)
  const reasons = document.verdict.reasons.filter(
    ({ rule }) =>
      rule === 'nothing_succeeded' ||
      rule === 'rows_lost' ||
      rule === 'rows_altered' ||
      (startsKnown && (littleKnown || rule !== 'little_violated')),
  )
  const status = reasons.some((reason) => reason.status === 'INVALID') ? 'INVALID' : 'DEGRADED'
  const ratesKnown = rowsKnown && (startsKnown || window !== null)
  const { window_s: seconds } = document.throughput
  return {
    ...document,
    verdict: {
      status,
      reasons: [
        ...(source.broken === undefined ? [] : [fileBroken(source.broken)]),
        ...reasons,
        clientUnknown,
      ],
    },
    throughput: ratesKnown
      ? {
          ...document.throughput,
          output_tokens_per_s: rows.some((row) => row.completion_tokens !== null)
            ? document.throughput.output_tokens_per_s
            : null,
          input_tokens_per_s: rows.some((row) => row.prompt_tokens !== null)
            ? document.throughput.input_tokens_per_s
            : null,
        }
      : {
          window_s: window === null ? 0 : seconds,
          requests_per_s: null,
          output_tokens_per_s: null,
          input_tokens_per_s: null,
        },
    goodput:
      document.goodput === null || rowsKnown
        ? document.goodput !== null && !ratesKnown
          ? { ...document.goodput, per_s: null }
          : document.goodput
        : null,
    little: littleKnown ? document.little : null,
    warnings: document.warnings.filter(
      ({ kind }) =>
        (startsKnown || !needsStarts.has(kind)) &&
        (rowsKnown || !needsRows.has(kind)) &&
        (littleKnown || kind !== 'little_violated'),
    ),
  }
}
