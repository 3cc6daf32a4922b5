import { exportCsv } from '../measure/record/export-csv.ts'
import { exportJsonl } from '../measure/record/export-jsonl.ts'
import { exportVllm } from '../measure/record/export-vllm.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RecordedRun } from './run-document.ts'
import { shownRun } from './show.ts'
import type { ExportConfig, ExportDeps, ExportOutcome } from './flow-deps.ts'

/** Writes a run's rows in the asked-for form, a piece at a time. */
export async function exportFlow(config: ExportConfig, deps: ExportDeps): Promise<ExportOutcome> {
  const run = await readRun(config.path)
  if (config.format === 'vllm') {
    const goodput = goodputOf(run)
    await deps.write(`${JSON.stringify(exportVllm(run.manifest, run.rows, { run: run.path, goodput }))}\n`)
    return { rows: run.rows.length }
  }
  const pieces = config.format === 'csv' ? exportCsv(run.rows) : exportJsonl(run.rows)
  for (const piece of pieces) await deps.write(piece)
  return { rows: run.rows.length }
}

/** vLLM's own count: limits are met by <=. Null where the run had no per-request limits. */
function goodputOf(run: RecordedRun): { readonly good: number } | null {
  const good = shownRun(run).goodput
  return good === null ? null : { good: good.good }
}
