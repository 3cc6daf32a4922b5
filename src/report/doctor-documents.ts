import type { EngineId } from '../operate/catalogue/catalogue.ts'
import { catalogueVersion } from '../operate/catalogue/catalogue.ts'
import type { ExaminedUse, PageDifference } from '../operate/doctor/examine.ts'

export interface DoctorEngineFacts {
  readonly url: string
  readonly engine: EngineId | null
  readonly version: string | null
  readonly page: PageDifference | null
}

export interface DoctorFacts {
  readonly engine: DoctorEngineFacts | null
  readonly prometheus: string | null
  readonly files: readonly { readonly path: string; readonly uses: readonly ExaminedUse[] }[]
}

/** The series of queries, and those of them that could not be held against anything, each once. */
export function seriesOf(uses: readonly ExaminedUse[]): {
  readonly series: number
  readonly unchecked: readonly string[]
} {
  return {
    series: new Set(uses.flatMap(({ series }) => series)).size,
    unchecked: [...new Set(uses.flatMap(({ unchecked }) => unchecked))],
  }
}

/** Whether files were given and nothing of them could be checked: no query in them, or no series that is known and nothing found. */
export function isUnchecked({ files }: DoctorFacts): boolean {
  const uses = files.flatMap(({ uses: own }) => own)
  const { series, unchecked } = seriesOf(uses)
  return (
    files.length > 0 && series === unchecked.length && uses.every(({ findings }) => findings.length === 0)
  )
}

/** `plimsoll.doctor/1`, a JSON value. */
export function doctorDocument(report: DoctorFacts): object {
  const { engine } = report
  return {
    schema: 'plimsoll.doctor/1',
    catalogue: catalogueVersion,
    engine:
      engine === null
        ? null
        : {
            url: engine.url,
            name: engine.engine,
            version: engine.version,
            metrics_shown: engine.page?.shown ?? null,
            metrics_known: engine.page?.known ?? null,
            missing: engine.page?.missing ?? [],
            unknown: engine.page?.unknown ?? [],
            other_buckets: engine.page?.otherBounds ?? [],
          },
    prometheus: report.prometheus,
    files: report.files.map(({ path, uses }) => ({
      path,
      queries: uses.length,
      series: seriesOf(uses).series,
      not_checked: seriesOf(uses).unchecked,
      findings: uses.flatMap(({ use, findings }) =>
        findings.map(({ kind, severity, message, suggestion }) => ({
          kind,
          severity,
          line: use.where.line ?? null,
          column: use.where.column ?? null,
          message,
          suggestion,
        })),
      ),
    })),
  }
}
