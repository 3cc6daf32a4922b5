import type { Clock } from '../base/clock.ts'
import type { PlimsollError } from '../base/errors.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'
import type { RunProgress } from '../report/progress.ts'
import type { ExperimentDocument } from '../report/experiment-document.ts'
import type { FindDocument } from '../report/find-document.ts'
import type { WatchDocument } from '../report/watch-document.ts'
import type { RunDocument, SweepDocument } from './documents.ts'

/**
 * Everything of the outside world that a flow may touch. The command line makes one from the process; tests and the UI server
 * make their own. Below here nothing reads the process, the wall clock or a global random source.
 */
export interface FlowDeps {
  readonly clock: Clock
  /** Wall clock, ms since 1970: for names and manifests, never for a measurement. */
  readonly wallClock: () => number
  /** A new random text on each call: the salt of a run. Never used where the seed decides. */
  readonly freshSalt: () => string
  /** Aborted once by the first Ctrl-C: stop sending, drain, keep what was measured. */
  readonly signal: AbortSignal
  /** An environment variable, or undefined; keys are read through it and never stored. */
  readonly env: (name: string) => string | undefined
  readonly cwd: string
  readonly files: FileReader
  readonly onProgress: (progress: RunProgress) => void
  /** A sentence for the person at the terminal: "no --url: starting the embedded engine". Printed on stderr; under `--quiet` only what was not done as asked. */
  readonly onNotice: (text: string, weight?: 'not-as-asked') => void
  /** An answer that is awaited before anything can be measured, told again and again while it is. */
  readonly onWait?: (wait: AwaitedAnswer) => void
  /** The folder of what is measured now, or of several runs together once it can be read: where to look if all ends at once. */
  readonly onFolder: (path: string) => void
  /** What could not be written to the disk, while the flow goes on with what is in memory: told at the end, beside the report. */
  readonly onUnsaved: (error: PlimsollError) => void
  /** Whether the plan shown may be carried out. Answers true without asking where nobody can answer, or with `--yes`. */
  readonly confirm: (plan: string) => Promise<boolean>
  readonly machine: MachineFacts
  /** Of plimsoll itself. */
  readonly version: string
}

export interface AwaitedAnswer {
  /** A sentence without its end: "waiting for a:8000 to answer GET /v1/models before any load". The same for one question. */
  readonly what: string
  readonly elapsedMs: number
  /** When it is no longer waited for. */
  readonly mostMs: number
}

export interface FileReader {
  readonly readText: (path: string) => Promise<string>
}

export interface MachineFacts {
  readonly hostname: string
  readonly platform: string
  readonly node: string
  readonly cores: number
  readonly cpu: string
  readonly memoryBytes: number
  /** Files, connections among them, that this process may have open; null where the machine does not tell. */
  readonly openFiles: number | null
  /** Addresses of this machine's interfaces: a server at one of them shares the machine with the client. */
  readonly addresses: readonly string[]
  /** Busy and total CPU time of all cores since boot, ms. */
  readonly cpuTimes: () => { readonly busyMs: number; readonly totalMs: number }
  /** CPU time of this process with all its threads, ms. */
  readonly processCpuMs: () => number
}

export interface RunOutcome {
  readonly document: RunDocument
  /** What its folder holds, in memory: a full disk may have kept none of it. Absent where nothing was measured. */
  readonly measured?: { readonly manifest: RunManifest; readonly rows: Rows }
  /** Ended by the signal before its plan. */
  readonly interrupted: boolean
}

export interface SweepOutcome {
  readonly document: SweepDocument
  readonly interrupted: boolean
}

/** What a path held, in the order of the paths. */
export type Shown =
  | {
      readonly kind: 'run'
      readonly path: string
      readonly document: RunDocument
      /** In order of intended send. */
      readonly rows: Rows
      /** What the server's own metrics said meanwhile. */
      readonly server: readonly ServerSample[]
    }
  | { readonly kind: 'sweep'; readonly path: string; readonly document: SweepDocument }
  | { readonly kind: 'find'; readonly path: string; readonly document: FindDocument }
  | { readonly kind: 'experiment'; readonly path: string; readonly document: ExperimentDocument }
  | { readonly kind: 'watch'; readonly path: string; readonly document: WatchDocument }

export interface ShowOutcome {
  readonly shown: readonly Shown[]
}

export interface ExportConfig {
  readonly path: string
  readonly format: 'jsonl' | 'csv' | 'vllm' | 'llm-d' | 'parquet'
  /** Where Parquet goes: it is no text for a stream. */
  readonly file?: string
  readonly overwrite?: boolean
}

export interface ExportDeps extends FlowDeps {
  /** Takes a piece of the export; waits while the reader is slow. */
  readonly write: (piece: string) => Promise<void>
}

export interface ExportOutcome {
  readonly rows: number
}
