import type { RunSummary } from '../measure/metrics/run-summary.ts'
import type { RunDocument } from '../report/documents.ts'

/** What `run.json` repeats of the document, for readers that do not recompute it. */
export function summaryOf(document: RunDocument): RunSummary {
  const {
    counts,
    window_counts,
    metrics,
    weighting,
    throughput,
    goodput,
    stutter,
    little,
    errors,
    tokens_source,
    cache,
    warnings,
  } = document
  return {
    counts,
    window_counts,
    metrics,
    weighting,
    throughput,
    goodput,
    stutter,
    little,
    errors,
    tokens_source,
    cache,
    warnings,
  }
}
