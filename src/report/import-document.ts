import type { Warning } from '../base/warnings.ts'
import type { Comparison } from '../measure/record/import/compare-published.ts'
import type { JsonObject } from '../measure/record/manifest.ts'
import type { RunDocument } from './documents.ts'

/** What `plimsoll import --json` prints; its JSON Schema is `schema/import.schema.json`. */
export interface ImportDocument {
  readonly schema: 'plimsoll.import/1'
  readonly plimsoll: string
  readonly files: readonly { readonly file: string; readonly bytes: number; readonly runs: number }[]
  readonly runs: readonly ImportedRunDocument[]
  /** The rate of all runs read together; null for one, and where their clocks have nothing in common. */
  readonly together: RunsTogether | null
  readonly warnings: readonly Warning[]
}

/** One run out of a file, recomputed. */
export interface ImportedRunDocument {
  /** Its run folder; null where none was written. */
  readonly folder: string | null
  readonly label: string | null
  readonly tool: string
  readonly format: string
  readonly files: readonly string[]
  /** The run as `plimsoll show` prints it. */
  readonly run: RunDocument
  /** The tool's own figures beside what its requests give. */
  readonly published: readonly Comparison[]
  readonly unrecoverable: readonly { readonly figure: string; readonly why: string }[]
  readonly facts: JsonObject
}

export interface RunsTogether {
  /** Requests per second of each, (n − 1) ÷ (last − first send). */
  readonly each_per_s: readonly (number | null)[]
  /** Σ(n − 1) ÷ the time in which any of them sent. */
  readonly per_s: number | null
  /** What dividing by the whole span would say. */
  readonly whole_span_per_s: number | null
  readonly idle_gap_s: number
}
