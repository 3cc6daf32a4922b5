import { randomStream } from '../../base/random.ts'
import type { Warning } from '../../base/warnings.ts'
import { shortestPrompt, type Salt } from '../tokens/token-counter.ts'
import { promptLead } from '../tokens/vocabulary.ts'
import { composeWords } from '../tokens/word-costs.ts'
import type { ContentInput, ContentMaker, RequestContent } from './content-maker.ts'
import { lengthWarnings } from './length-warnings.ts'
import type { Trace } from './trace.ts'
import type { TraceEntry } from './trace-rows.ts'

/**
 * Prompts as long as those of the trace. Blocks become text of their own, the same for the same id, so that what was shared then
 * is shared now: such a trace is salted once for the run, not once a request. Prompts without blocks share nothing.
 *
 * Block k covers tokens k·b to (k + 1)·b of the prompt, lead and salt included, so that the engine's own blocks fall as they did.
 */
export function traceContent(
  input: ContentInput,
  trace: Trace,
  saltAt: (index: number) => Salt,
): ContentMaker {
  const { seed, tokens, maxModelLen } = input
  const { entries, blockTokens } = trace
  const entryAt = (index: number): TraceEntry => entries[index % entries.length] as TraceEntry
  const shortest = shortestPrompt(tokens, saltAt(0).tokens)
  const lengthAt = (index: number): number => {
    const { promptTokens, outputTokens } = entryAt(index)
    const longest = maxModelLen === null ? Number.POSITIVE_INFINITY : maxModelLen - outputTokens
    return Math.max(shortest, Math.min(promptTokens, longest))
  }
  const ofBlocks = (blocks: readonly number[], length: number): { text: string; tokens: number } => {
    // An index that no request has: one salt for all.
    const salt = saltAt(0xffffffff)
    let at = Math.round(tokens.words.leadTokens + salt.tokens)
    let text = promptLead + salt.text
    // What is longer than its blocks goes on in a block of nobody else's.
    const count = Math.max(blocks.length, Math.ceil(length / blockTokens))
    for (let k = 0; k < count && at < length; k++) {
      const end = Math.min((k + 1) * blockTokens, length)
      if (end <= at) continue
      // A block cut short is the beginning of the whole one.
      const id = blocks[k] ?? `beyond-${blocks.at(-1) ?? 'nothing'}-${k}`
      const made = composeWords(tokens.words, end - at, randomStream(seed, `block ${id}`))
      text += made.text
      at += Math.round(made.tokens)
    }
    return { text, tokens: at }
  }
  return {
    once: entries.length,
    countsPrompts: true,
    at(index): RequestContent {
      const entry = entryAt(index)
      const length = lengthAt(index)
      const made =
        entry.blocks === null
          ? tokens.makePrompt(length, randomStream(seed, 'prompt', index), saltAt(index))
          : ofBlocks(entry.blocks, length)
      return {
        prompt: { kind: 'text', text: made.text },
        promptId: `trace-${index % entries.length}`,
        segment: entry.segment,
        session: entry.session,
        promptTokens: tokens.kind === 'unknown' ? null : made.tokens,
        outputTokens: entry.outputTokens,
      }
    },
    warnings(count): readonly Warning[] {
      return lengthWarnings(count, shortest, maxModelLen, (index) => ({
        asked: entryAt(index).promptTokens,
        prompt: lengthAt(index),
      }))
    },
  }
}
