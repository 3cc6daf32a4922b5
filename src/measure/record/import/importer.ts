import type { RowStoreOptions } from '../row-store.ts'
import type { FormatName, ImportedRun } from './imported-run.ts'
import type { JsonFault, JsonPlace, JsonPlan } from './json-stream.ts'
import type { JsonValue } from './json-value.ts'

/** The beginning of a file, as far as it was read to see what it is. */
export interface Sample {
  /** The first whole values, or the first one as far as it goes. */
  readonly roots: readonly JsonValue[]
  /** The first line where the file is no JSON. */
  readonly header: string | null
}

/** Takes a file's values as they come and gives the runs that were in it. */
export interface ImportSession {
  readonly plan: JsonPlan | null
  readonly item?: (value: JsonValue, path: readonly (string | number)[], place: JsonPlace) => void
  readonly root?: (value: JsonValue, place: JsonPlace, cut: JsonFault | null) => void
  /** A line of a file that is no JSON, from 1. Gives what was expected in one that cannot be read. */
  readonly line?: (text: string, number: number) => string | null
  /** A whole value of the file is a run: one that breaks off takes nothing from those before it. */
  readonly rootsAreRuns?: true
  readonly end: () => readonly ImportedRun[]
}

export interface Importer {
  readonly format: FormatName
  /** "vLLM bench serve" */
  readonly tool: string
  readonly detects: (sample: Sample) => boolean
  readonly begin: (file: string, rows: RowStoreOptions) => ImportSession
}
