import type { FlowDeps } from '../flows/flow-deps.ts'
import type { Flows } from './flows.ts'
import type { ExitCode } from './exit-codes.ts'

/** One flag of a verb, as data: the parser, the help and the suggestions for typos are all made from it. */
export interface FlagSpec {
  /** `text` takes one value, `list` may be repeated, `switch` is on or off (`--no-…` turns it off). */
  readonly kind: 'text' | 'list' | 'switch'
  readonly brief: string
  /** Heading of the help under which it stands. */
  readonly group: string
  readonly placeholder?: string
  /** Other long names that mean the same, without dashes: vLLM's above all. */
  readonly aliases?: readonly string[]
  /** A single letter. */
  readonly letter?: string
  /** Takes all values up to the next flag (`--goodput ttft:500 tpot:30`). */
  readonly manyValues?: true
  /** May stand alone and then means `means`; a word after it is its value only if it looks like one. */
  readonly alone?: { readonly means: string; readonly unless: RegExp }
  /** Accepted and of no effect; the text is the word said about it. */
  readonly ignored?: string
  /** Another tool's, and not taken here; the text says how it is said instead. */
  readonly refused?: string
  /** Another flag that it says nothing without, by its kebab-case name. */
  readonly needs?: string
  /** What is said where it is refused, as nothing would read it beside what else was given. */
  readonly idle?: string
  readonly hidden?: true
  /** What the help says of the default. */
  readonly default?: string
}

/** Flags by their kebab-case names. */
export type FlagSpecs = Readonly<Record<string, FlagSpec>>

/** What was given on the command line: text, several texts or a switch, by kebab-case name. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

export interface Verb {
  readonly brief: string
  /** A paragraph for the help of this verb. */
  readonly description: string
  readonly flags: FlagSpecs
  /** Placeholder and number of what stands without a flag. */
  readonly positional?: {
    readonly placeholder: string
    readonly brief: string
    readonly minimum: number
    readonly maximum?: number
  }
  /** `--` stands between two groups of arguments, and does not end the flags. */
  readonly separated?: true
  /** Command lines with a word on what they do. */
  readonly examples: readonly (readonly [commandLine: string, what: string])[]
  /** The verb that the first argument makes of this one (`calc NAME`). Throws PLIM_USAGE for a name that is not known. */
  readonly select?: (name: string) => Verb
  /** Does it. Errors are thrown; everything else is an exit code. */
  readonly run: (invocation: Invocation) => Promise<ExitCode>
}

export interface Invocation {
  readonly flags: FlagValues
  /** The same, for a command line that repeats them: nobody has read a flag by that. */
  readonly given: FlagValues
  readonly args: readonly string[]
  readonly cli: CliContext
  /** Refuses the flags that nobody has read: for a verb that works without the surroundings of a flow, which do so themselves. */
  readonly settled: () => void
  /** Whether all that was measured has been stored so far, once the flow is over. */
  readonly isStored: () => boolean
}

/** The outside world of a verb. `main.ts` makes it from the process; tests make their own. */
export interface CliContext {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: (name: string) => string | undefined
  readonly cwd: string
  readonly version: string
  /** The surroundings of a flow, with progress and notices going where the verb wants them. */
  readonly flowDeps: (voice: FlowVoice) => Promise<FlowDeps>
  readonly flows: Flows
  /** Asks on the terminal; null where nobody can answer. */
  readonly ask: ((question: string) => Promise<boolean>) | null
  /** The newest run or sweep in a folder of runs, or null; of all that can be shown, searches, experiments and watches too. */
  readonly newestRun: (runsDir: string, kinds?: 'runs' | 'shown') => Promise<string | null>
  /** A new file; PLIM_FILE where it is there and may not be written over. */
  readonly openFile: (path: string, options: { readonly overwrite: boolean }) => Promise<FileSink>
  /** PLIM_FILE where a file could not be written later: no such folder, no right to it, a folder of that name. */
  readonly checkWritable: (path: string) => Promise<void>
  /** The file's text, or null where there is none. */
  readonly readFile: (path: string) => Promise<string | null>
}

export interface FlowVoice extends Pick<FlowDeps, 'onProgress' | 'onNotice' | 'onWait' | 'confirm'> {
  /** What is said at the first Ctrl-C. */
  readonly stopping?: string
}

export interface FileSink {
  readonly write: (piece: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface OutputStream {
  readonly write: (text: string) => void
  /** A text to be read: on a terminal its prose breaks at the width, elsewhere it is as it is. */
  readonly say: (text: string) => void
  /** Waits while the reader is slow. */
  readonly writeAll: (text: string) => Promise<void>
  readonly isTerminal: boolean
  /** Whether colour may be used: a terminal, no NO_COLOR, not dumb. */
  readonly color: boolean
  readonly columns: number
}
