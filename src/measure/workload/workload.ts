import type { LengthDistribution } from './length-distribution.ts'
import type { PromptItem } from './prompt-item.ts'
import { readBatch } from './read-batch.ts'
import { readJsonl, type RowUse } from './read-jsonl.ts'
import { readShareGpt } from './read-sharegpt.ts'
import { readTrace, type Trace } from './trace.ts'

/** What is asked. */
export type Workload =
  | RandomWorkload
  /** One object a line: `read-jsonl.ts`. Answers are as long as the line says, else as `output` says, else as the model likes. */
  | { readonly kind: 'jsonl'; readonly path: string; readonly output: LengthDistribution | null }
  /** Recorded conversations: `read-sharegpt.ts`. Answers as long as the recorded ones unless `output` is given. */
  | { readonly kind: 'sharegpt'; readonly path: string; readonly output: LengthDistribution | null }
  /** OpenAI's batch files: `read-batch.ts`. Answers as long as the file says, else as `output` says. */
  | { readonly kind: 'batch'; readonly path: string; readonly output: LengthDistribution | null }
  /** Recorded traffic: `trace.ts`. Its times are those of `tracePacer`. */
  | { readonly kind: 'trace'; readonly path: string }
  | MixWorkload<Workload>
  | SessionWorkload

/** Random plain words of exact lengths. */
export interface RandomWorkload {
  readonly kind: 'random'
  /** Whole prompts, as the server's usage counts them: chat template, salt and shared prefix included. */
  readonly prompt: LengthDistribution
  readonly output: LengthDistribution
  /** Tokens at the front that all prompts of a run share (a system prompt); default 0. */
  readonly sharedPrefixTokens?: number
  /**
   * Or the share of each prompt that is the beginning of one common text, 0 to below 1: the prefix cache's hit rate, once it is
   * warm and as long as it holds the text. Not with `sharedPrefixTokens`.
   */
  readonly sharedPrefixShare?: number
}

/**
 * Conversations of random words. Each turn sends all that was said before it: the context grows. The answers that are sent back are
 * planned words of the asked length, not what the server said, so that the same seed asks the same (law 8); a prefix cache then
 * knows all of a turn's prompt but the last answer.
 */
export interface SessionWorkload {
  readonly kind: 'sessions'
  /** Requests of a session. */
  readonly turns: number
  /** What the user adds at each turn; at the first with chat template and salt. */
  readonly prompt: LengthDistribution
  readonly output: LengthDistribution
  /** From the end of an answer to the session's next turn. */
  readonly thinkTimeMs: number
  /** `exponential`: drawn with that mean. */
  readonly thinkTime: 'fixed' | 'exponential'
}

/** Classes of requests side by side. A request's class is drawn by weight and is its segment. */
export interface MixWorkload<W> {
  readonly kind: 'mix'
  readonly classes: readonly { readonly name: string; readonly weight: number; readonly workload: W }[]
}

/** A workload with its file read. */
export type LoadedWorkload =
  | RandomWorkload
  | Trace
  | MixWorkload<LoadedWorkload>
  | SessionWorkload
  | {
      readonly kind: 'items'
      /** What it was read from, for reports. */
      readonly name: string
      readonly items: readonly PromptItem[]
      readonly output: LengthDistribution | null
      /** `file`: as they stand, again from the top when used up; `shuffled`: in an order drawn from the seed. */
      readonly order: 'file' | 'shuffled'
      /** Items of the file that are not used, by reason. */
      readonly skipped: Readonly<Record<string, number>>
    }

/**
 * Reads what the workload names. `readText` gives a file's text; `textTokens` counts or estimates a text's tokens.
 * @throws PlimsollError PLIM_WORKLOAD with file, line and column of what cannot be used; whatever `readText` throws.
 */
export async function loadWorkload(
  workload: Workload,
  readText: (path: string) => Promise<string>,
  textTokens: (text: string) => number,
  rows: RowUse = 'left',
): Promise<LoadedWorkload> {
  if (workload.kind === 'random' || workload.kind === 'sessions') return workload
  if (workload.kind === 'mix') {
    const classes = workload.classes.map(async (one) => ({
      ...one,
      workload: await loadWorkload(one.workload, readText, textTokens, rows),
    }))
    return { kind: 'mix', classes: await Promise.all(classes) }
  }
  const text = await readText(workload.path)
  if (workload.kind === 'trace') return readTrace(text, workload.path)
  const { path, output } = workload
  if (workload.kind !== 'sharegpt') {
    const items = workload.kind === 'jsonl' ? readJsonl(text, path, rows) : readBatch(text, path)
    return { kind: 'items', name: path, items, output, order: 'file', skipped: {} }
  }
  const { items, skipped } = readShareGpt(text, path, textTokens, output !== null)
  return { kind: 'items', name: path, items, output, order: 'shuffled', skipped }
}
