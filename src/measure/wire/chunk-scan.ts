import type { ChunkFacts, TextPiece } from './chunk-facts.ts'
import { readCount, skipBlanks, skipNull, skipString, skipValue, stringEnd } from './json-bytes.ts'
import { equals } from './sse-scanner.ts'

/*
 * The hot path. A stream's events nearly all look alike: an object with `choices[0].delta.content`, a few scalars and perhaps
 * running usage. This walks such an event once, byte by byte, checks that it is JSON, and fills `facts` without allocating.
 * Whatever is odd (an error, a repeated key, an escaped key, a list where a text should be) makes it give up, and the caller asks
 * `parseChunk`, whose answer is the right one by definition; a property test holds the two together.
 */

const quote = 0x22
/** What a key's reader says of a key that does not matter. */
const notOurs = -2
const word = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))
const choicesKey = word('choices')
const usageKey = word('usage')
const errorKey = word('error')
const objectKey = word('object')
const deltaKey = word('delta')
const textKey = word('text')
const finishKey = word('finish_reason')
const contentKey = word('content')
const reasoningKey = word('reasoning')
const reasoningContentKey = word('reasoning_content')
const toolCallsKey = word('tool_calls')
const functionCallKey = word('function_call')
const functionKey = word('function')
const nameKey = word('name')
const argumentsKey = word('arguments')
const promptTokensKey = word('prompt_tokens')
const completionTokensKey = word('completion_tokens')
const promptDetailsKey = word('prompt_tokens_details')
const completionDetailsKey = word('completion_tokens_details')
const cachedTokensKey = word('cached_tokens')
const reasoningTokensKey = word('reasoning_tokens')
const cacheHitKey = word('prompt_cache_hit_tokens')
const stop = word('stop')
const length = word('length')

/** The lengths of the keys that matter in each object, as bits. */
const lengths = (...all: readonly number[]): number => all.reduce((bits, one) => bits | (1 << one), 0)
const topLevelLengths = lengths(5, 6, 7)
const choiceLengths = lengths(4, 5, 13)
const deltaLengths = lengths(7, 9, 10, 13, 17)
const callLengths = lengths(8)
const functionLengths = lengths(4, 9)
const usageLengths = lengths(13, 16, 17, 21, 23, 25)
const detailLengths = lengths(13, 16)

/** Fills `facts` from the event `bytes[start, end)`. False: not taken, `facts` is undefined, ask `parseChunk`. */
export function scanChunk(bytes: Uint8Array, start: number, end: number, facts: ChunkFacts): boolean {
  const i = skipBlanks(bytes, start, end)
  const after = scanChunkAt(bytes, i, end, facts)
  return after !== -1 && skipBlanks(bytes, after, end) === end
}

/** The same for an object that begins at `start` and ends somewhere before `end`: where it ends, or -1. */
export function scanChunkAt(bytes: Uint8Array, start: number, end: number, facts: ChunkFacts): number {
  if (start >= end || bytes[start] !== 0x7b) return -1
  facts.clear()
  return scanObject(bytes, start, end, facts, topLevel, topLevelLengths)
}

/**
 * Reads the value of one key. Gives where the value ends; -1 to give up; `notOurs` for a key that does not matter.
 * `keyStart`, `keyEnd`: the key without its quotes.
 */
type OnKey = (
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
) => number

/** Walks an object; a key that matters twice would be read as its last value, so it gives up by way of `seen`. */
function scanObject(
  bytes: Uint8Array,
  start: number,
  end: number,
  facts: ChunkFacts,
  onKey: OnKey,
  keyLengths: number,
): number {
  let i = skipBlanks(bytes, start + 1, end)
  if (i < end && bytes[i] === 0x7d) return i + 1
  let seen = 0
  while (i < end) {
    if (bytes[i] !== quote) return -1
    const keyStart = i + 1
    // Escaped keys (below -1) are given up along with broken ones.
    i = skipString(bytes, keyStart, end)
    if (i < 0) return -1
    const keyEnd = i - 1
    i = skipBlanks(bytes, i, end)
    if (i >= end || bytes[i] !== 0x3a) return -1
    i = skipBlanks(bytes, i + 1, end)
    if (i >= end) return -1
    // The keys that matter in one object all differ in length, which sorts out most others at once.
    const bit = keyEnd - keyStart < 31 ? 1 << (keyEnd - keyStart) : 0
    const after = (keyLengths & bit) === 0 ? notOurs : onKey(bytes, keyStart, keyEnd, i, end, facts)
    if (after === notOurs) {
      i = bytes[i] === quote ? stringEnd(skipString(bytes, i + 1, end)) : skipValue(bytes, i, end)
      if (i === -1) return -1
    } else {
      if (after === -1 || (seen & bit) !== 0) return -1
      seen |= bit
      i = after
    }
    i = skipBlanks(bytes, i, end)
    if (i >= end) return -1
    if (bytes[i] === 0x7d) return i + 1
    if (bytes[i] !== 0x2c) return -1
    i = skipBlanks(bytes, i + 1, end)
  }
  return -1
}

function topLevel(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  switch (keyEnd - keyStart) {
    case 7:
      return equals(bytes, keyStart, keyEnd, choicesKey)
        ? scanList(bytes, value, end, facts, choice, choiceLengths)
        : notOurs
    case 5:
      if (equals(bytes, keyStart, keyEnd, usageKey)) {
        return bytes[value] === 0x7b
          ? scanObject(bytes, value, end, facts, usage, usageLengths)
          : skipNull(bytes, value, end)
      }
      return equals(bytes, keyStart, keyEnd, errorKey) && skipNull(bytes, value, end) === -1 ? -1 : notOurs
    case 6:
      // {"object": "error", …} is an error of older vLLM.
      return equals(bytes, keyStart, keyEnd, objectKey) &&
        (bytes[value] !== quote || bytes[value + 1] === 0x65 || bytes[value + 1] === 0x5c)
        ? -1
        : notOurs
    default:
      return notOurs
  }
}

function choice(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  switch (keyEnd - keyStart) {
    case 5:
      if (equals(bytes, keyStart, keyEnd, deltaKey)) {
        return bytes[value] === 0x7b
          ? scanObject(bytes, value, end, facts, delta, deltaLengths)
          : skipNull(bytes, value, end)
      }
      return equals(bytes, keyStart, keyEnd, usageKey) ? skipNull(bytes, value, end) : notOurs
    case 4:
      if (!equals(bytes, keyStart, keyEnd, textKey)) return notOurs
      return scanText(bytes, value, end, facts, facts.content, true)
    case 13: {
      if (!equals(bytes, keyStart, keyEnd, finishKey)) return notOurs
      if (bytes[value] !== quote) return skipNull(bytes, value, end)
      const after = skipString(bytes, value + 1, end)
      if (after < 0) return -1
      if (after - value > 2) facts.finishReason = finishReason(bytes, value + 1, after - 1)
      return after
    }
    default:
      return notOurs
  }
}

function delta(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  switch (keyEnd - keyStart) {
    case 7:
      if (!equals(bytes, keyStart, keyEnd, contentKey)) return notOurs
      return scanText(bytes, value, end, facts, facts.content, true)
    case 9:
      if (!equals(bytes, keyStart, keyEnd, reasoningKey)) return notOurs
      return scanText(bytes, value, end, facts, facts.reasoning, false)
    case 17:
      if (!equals(bytes, keyStart, keyEnd, reasoningContentKey)) return notOurs
      return scanText(bytes, value, end, facts, facts.reasoning, false)
    case 10:
      return equals(bytes, keyStart, keyEnd, toolCallsKey)
        ? scanList(bytes, value, end, facts, toolCall, callLengths)
        : notOurs
    case 13:
      return equals(bytes, keyStart, keyEnd, functionCallKey) ? skipNull(bytes, value, end) : notOurs
    default:
      return notOurs
  }
}

function toolCall(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  if (!equals(bytes, keyStart, keyEnd, functionKey)) return notOurs
  return bytes[value] === 0x7b
    ? scanObject(bytes, value, end, facts, calledFunction, functionLengths)
    : skipNull(bytes, value, end)
}

function calledFunction(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  if (equals(bytes, keyStart, keyEnd, argumentsKey)) {
    return scanText(bytes, value, end, facts, facts.toolArguments, false)
  }
  if (!equals(bytes, keyStart, keyEnd, nameKey)) return notOurs
  if (bytes[value] !== quote) return skipNull(bytes, value, end)
  const after = stringEnd(skipString(bytes, value + 1, end))
  if (after - value > 2) facts.hasOutput = true
  return after
}

function usage(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  switch (keyEnd - keyStart) {
    case 13:
      if (!equals(bytes, keyStart, keyEnd, promptTokensKey)) return notOurs
      facts.promptTokens = readCount(bytes, value, end)
      return facts.promptTokens === -1 ? -1 : skipValue(bytes, value, end)
    case 17:
      if (!equals(bytes, keyStart, keyEnd, completionTokensKey)) return notOurs
      facts.completionTokens = readCount(bytes, value, end)
      return facts.completionTokens === -1 ? -1 : skipValue(bytes, value, end)
    case 21:
    case 25:
      if (
        !equals(bytes, keyStart, keyEnd, promptDetailsKey) &&
        !equals(bytes, keyStart, keyEnd, completionDetailsKey)
      ) {
        return notOurs
      }
      return bytes[value] === 0x7b
        ? scanObject(
            bytes,
            value,
            end,
            facts,
            keyEnd - keyStart === 21 ? promptDetails : completionDetails,
            detailLengths,
          )
        : skipNull(bytes, value, end)
    case 16:
      // Told at two places by some servers: parseChunk decides which counts.
      return equals(bytes, keyStart, keyEnd, reasoningTokensKey) ? -1 : notOurs
    case 23:
      return equals(bytes, keyStart, keyEnd, cacheHitKey) ? -1 : notOurs
    default:
      return notOurs
  }
}

function promptDetails(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  if (!equals(bytes, keyStart, keyEnd, cachedTokensKey)) return notOurs
  facts.cachedTokens = readCount(bytes, value, end)
  return facts.cachedTokens === -1 ? skipNull(bytes, value, end) : skipValue(bytes, value, end)
}

function completionDetails(
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  value: number,
  end: number,
  facts: ChunkFacts,
): number {
  if (!equals(bytes, keyStart, keyEnd, reasoningTokensKey)) return notOurs
  facts.reasoningTokens = readCount(bytes, value, end)
  return facts.reasoningTokens === -1 ? skipNull(bytes, value, end) : skipValue(bytes, value, end)
}

/** A list of objects, or null. */
function scanList(
  bytes: Uint8Array,
  start: number,
  end: number,
  facts: ChunkFacts,
  onKey: OnKey,
  keyLengths: number,
): number {
  if (bytes[start] !== 0x5b) return skipNull(bytes, start, end)
  let i = skipBlanks(bytes, start + 1, end)
  if (i < end && bytes[i] === 0x5d) return i + 1
  while (i < end) {
    if (bytes[i] !== 0x7b) return -1
    i = scanObject(bytes, i, end, facts, onKey, keyLengths)
    if (i === -1) return -1
    i = skipBlanks(bytes, i, end)
    if (i >= end) return -1
    if (bytes[i] === 0x5d) return i + 1
    if (bytes[i] !== 0x2c) return -1
    i = skipBlanks(bytes, i + 1, end)
  }
  return -1
}

/** A text of the answer, or null. A second one of the same channel in one event is given up. */
function scanText(
  bytes: Uint8Array,
  start: number,
  end: number,
  facts: ChunkFacts,
  piece: TextPiece,
  isContent: boolean,
): number {
  if (bytes[start] !== quote) return skipNull(bytes, start, end)
  const result = skipString(bytes, start + 1, end)
  if (result === -1) return -1
  const after = stringEnd(result)
  if (after - start === 2) return after
  if (piece.end !== 0) return -1
  piece.start = start + 1
  piece.end = after - 1
  piece.escaped = result < -1
  facts.hasOutput = true
  if (isContent) facts.hasContent = true
  return after
}

function finishReason(bytes: Uint8Array, start: number, end: number): string {
  if (equals(bytes, start, end, stop)) return 'stop'
  if (equals(bytes, start, end, length)) return 'length'
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}
