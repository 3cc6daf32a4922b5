import { aiperfRecords } from './aiperf-records.ts'
import { aiperfSummary } from './aiperf-summary.ts'
import { genaiBench } from './genai-bench.ts'
import { guidellm } from './guidellm.ts'
import { heyCsv, ohaCsv } from './http-csv.ts'
import { autocannon, evalscope, k6Summary, llmLoadTest, ohaReport, vegetaReport } from './http-reports.ts'
import { k6Points, vegetaHits } from './http-tools.ts'
import type { Importer } from './importer.ts'
import { inferencePerfRequests, inferencePerfSummary } from './inference-perf.ts'
import { llmperfResponses, llmperfSummary } from './llmperf.ts'
import { mlcSummary } from './mlc-endpoints.ts'
import { mlcEvents } from './mlc-events.ts'
import { requestSpans } from './request-spans.ts'
import { sglangImporter, vllmImporter } from './serving.ts'

/** Every format that is known, the more particular ones first. */
export const importers: readonly Importer[] = [
  aiperfRecords,
  mlcEvents,
  mlcSummary,
  guidellm,
  inferencePerfSummary,
  inferencePerfRequests,
  genaiBench,
  llmperfResponses,
  llmperfSummary,
  sglangImporter,
  vllmImporter,
  aiperfSummary,
  vegetaHits,
  vegetaReport,
  k6Points,
  k6Summary,
  ohaReport,
  ohaCsv,
  heyCsv,
  autocannon,
  evalscope,
  llmLoadTest,
  requestSpans,
]
