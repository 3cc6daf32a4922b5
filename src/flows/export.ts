import { PlimsollError } from '../base/errors.ts'
import { exportCsv } from '../measure/record/export-csv.ts'
import { exportJsonl } from '../measure/record/export-jsonl.ts'
import { exportLlmd } from '../measure/record/export-llmd.ts'
import { exportParquet } from '../measure/record/export-parquet.ts'
import { exportVllm } from '../measure/record/export-vllm.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RecordedRun } from './run-document.ts'
import { shownRun } from './show.ts'
import type { ExportConfig, ExportDeps, ExportOutcome } from './flow-deps.ts'

/** Writes a run's rows in the asked-for form, a piece at a time. */
export async function exportFlow(config: ExportConfig, deps: ExportDeps): Promise<ExportOutcome> {
  if (config.format === 'parquet' && config.file === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'Parquet is written to a file', {
      expected: '--format parquet --out FILE',
      received: 'no --out',
    })
  }
  const run = await readRun(config.path)
  const { manifest, rows } = run
  switch (config.format) {
    case 'vllm': {
      const goodput = goodputOf(run)
      await deps.write(`${JSON.stringify(exportVllm(manifest, rows, { run: run.path, goodput }))}\n`)
      break
    }
    case 'llm-d': {
      const { window, throughput } = shownRun(run)
      const options = {
        run: run.path,
        window: { startMs: window.start_ms, endMs: window.end_ms },
        throughput,
      }
      await deps.write(`${JSON.stringify(exportLlmd(manifest, rows, options), null, 2)}\n`)
      break
    }
    case 'parquet':
      await exportParquet(config.file ?? '', manifest, rows, { overwrite: config.overwrite ?? false })
      break
    default:
      for (const piece of config.format === 'csv' ? exportCsv(rows) : exportJsonl(rows))
        await deps.write(piece)
  }
  return { rows: rows.length }
}

/** vLLM's own count: limits are met by <=. Null where the run had no per-request limits. */
function goodputOf(run: RecordedRun): { readonly good: number } | null {
  const good = shownRun(run).goodput
  return good === null ? null : { good: good.good }
}
