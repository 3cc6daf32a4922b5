import type { HeaderLookup } from './transport.ts'

/*
 * What a client of OpenAI's own library does with a refusal (openai/openai-node `src/client.ts`): whether it tries again, and after how
 * long. A server that asks for something else is not heard.
 */

/** How often the library tries again unless told otherwise. */
export const openaiMaxRetries = 2

/** A wait beyond this is not believed, ms: the client comes back after its own back-off instead. */
export const openaiLongestWaitMs = 60_000

const firstDelayMs = 500
const longestDelayMs = 8000
/** The own back-off is shortened by up to this share. */
const jitter = 0.25

/** `x-should-retry` decides where it says true or false; else 408, 409, 429 and everything from 500 are tried again. */
export function openaiRetries(status: number, header: HeaderLookup): boolean {
  const told = header('x-should-retry')
  if (told === 'true') return true
  if (told === 'false') return false
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/** How long the client waits, ms, from `fromMs` to `toMs` by chance; `asked` where the server's header decided. */
export interface OpenaiWait {
  readonly fromMs: number
  readonly toMs: number
  readonly asked: 'retry-after-ms' | 'retry-after' | null
  /** What the server asked for and was not given, ms. */
  readonly ignoredMs: number | null
}

/**
 * The wait before retry `retry` (0 the first): `retry-after-ms`, else `retry-after` in seconds or as a date, where it lies within 0 and
 * 60 s; else min(0.5 s · 2^retry, 8 s), shortened by up to a quarter. `wallNowMs` is what a date is read against.
 */
export function openaiWait(header: HeaderLookup, retry: number, wallNowMs: number): OpenaiWait {
  const exact = Number.parseFloat(header('retry-after-ms') ?? '')
  const isExact = !Number.isNaN(exact) && exact !== 0
  const asked = isExact ? exact : secondsOrDate(header('retry-after'), wallNowMs)
  if (asked !== null && asked >= 0 && asked <= openaiLongestWaitMs) {
    return { fromMs: asked, toMs: asked, asked: isExact ? 'retry-after-ms' : 'retry-after', ignoredMs: null }
  }
  const longest = Math.min(firstDelayMs * 2 ** retry, longestDelayMs)
  return { fromMs: longest * (1 - jitter), toMs: longest, asked: null, ignoredMs: asked }
}

function secondsOrDate(text: string | undefined, wallNowMs: number): number | null {
  if (text === undefined) return null
  const seconds = Number.parseFloat(text)
  if (!Number.isNaN(seconds)) return seconds * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at - wallNowMs
}
