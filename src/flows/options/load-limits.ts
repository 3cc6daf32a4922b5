import { parseCount, parseDurationMs, parseNumber } from '../../base/units.ts'

/**
 * The most that a load may ask for. Each is over what any server is asked in earnest; what lies beyond would fill the memory of the client
 * before the first byte is sent, or wait longer than its timers can.
 */
const most = {
  /** The longest contexts that are served hold ten million tokens (Llama 4 Scout). */
  tokens: 10_000_000,
  /** The text of a prefix is made whole before the first send. */
  prefixTokens: 1_000_000,
  requests: 5_000_000,
  turns: 100_000,
  /** A timer of Node counts in 31 bits of milliseconds: 24.8 days. */
  waitMs: 24 * 86_400_000,
} as const

/** Tokens of a prompt or an answer. */
export function parseTokens(text: string, what: string): number {
  return parseCount(text, what, 1, most.tokens)
}

/** Tokens of a prefix that prompts share. */
export function parsePrefixTokens(text: string, what: string): number {
  return parseCount(text, what, 1, most.prefixTokens)
}

/** A mean, a deviation or a percentile of such tokens. */
export function parseTokenNumber(text: string, what: string): number {
  return parseNumber(text, what, most.tokens)
}

/** Requests of a run. */
export function parseRequests(text: string, what: string): number {
  return parseCount(text, what, 1, most.requests)
}

/** Turns of a session. */
export function parseTurns(text: string, what: string): number {
  return parseCount(text, what, 1, most.turns)
}

/** A time that a load test waits for, ms. */
export function parseWaitMs(text: string, what: string): number {
  return parseDurationMs(text, what, most.waitMs)
}
