import { dirname } from 'node:path'
import type { ImportedRun } from './imported-run.ts'

/**
 * Joins the summary and the requests of one test where a tool writes them to two files: same tool, same folder, one of each. The
 * summary's figures are then held against what its own requests give.
 */
export function joinRuns(runs: readonly ImportedRun[]): readonly ImportedRun[] {
  const joined: ImportedRun[] = []
  const used = new Set<ImportedRun>()
  const alike = (a: ImportedRun, b: ImportedRun): boolean =>
    a.tool === b.tool && dirname(a.file) === dirname(b.file)
  for (const run of runs) {
    if (!run.rowsKnown || run.published.length > 0) continue
    const summaries = runs.filter((one) => !one.rowsKnown && alike(one, run))
    const requests = runs.filter((one) => one.rowsKnown && alike(one, run))
    const summary = summaries[0]
    if (summaries.length !== 1 || requests.length !== 1 || summary === undefined) continue
    used.add(summary).add(run)
    joined.push({
      ...run,
      published: summary.published,
      durationMs: run.durationMs ?? summary.durationMs,
      target: run.target ?? summary.target,
      facts: { ...summary.facts, ...run.facts, summary_file: summary.file },
      warnings: [...run.warnings, ...summary.warnings],
    })
  }
  return [...runs.filter((run) => !used.has(run)), ...joined]
}
