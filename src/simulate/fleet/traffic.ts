import { exponential, randomStream, uniformInteger } from '../../base/random.ts'
import { arrivalTimes } from '../../measure/load/arrivals.ts'
import { drawLength, type LengthDistribution } from '../../measure/workload/length-distribution.ts'
import type { Trace } from '../../measure/workload/trace.ts'
import type { Prompt } from '../engine/prompt.ts'
import type { DailyRate, Traffic } from './fleet-spec.ts'

/** The next request of the traffic. One object, written over again and again. */
export interface TrafficRequest {
  atMs: number
  prompt: Prompt
  outputTokens: number
  /** Requests with the same number begin alike or belong to one session; −1: to none. */
  affinity: number
}

export interface TrafficSource {
  readonly request: TrafficRequest
  /** Writes the next request into `request`; false when there is none before the end. */
  next(): boolean
}

/** Streams arrivals up to `durationMs`. Times, lengths and sharing have random streams of their own. */
export function openTraffic(traffic: Traffic, seed: string, durationMs: number): TrafficSource {
  if (traffic.kind === 'trace') {
    return traceTraffic(traffic.trace, traffic.speed, traffic.repeat, durationMs)
  }
  return traffic.kind === 'pairs'
    ? pairsTraffic(traffic, seed, durationMs)
    : madeTraffic(traffic, seed, durationMs)
}

function pairsTraffic(
  { arrivals, pairs }: Extract<Traffic, { kind: 'pairs' }>,
  seed: string,
  durationMs: number,
): TrafficSource {
  if (pairs.length === 0) throw new RangeError('traffic without a single pair of lengths')
  const times = timesOf(arrivals, seed)
  const random = randomStream(seed, 'pairs')
  const request: TrafficRequest = { atMs: 0, prompt: { length: 1 }, outputTokens: 1, affinity: -1 }
  const plain = new Map<number, Prompt>()
  return {
    request,
    next() {
      const atMs = times()
      if (!(atMs < durationMs)) return false
      const [prompt, output] = pairs[uniformInteger(random, 0, pairs.length - 1)] as readonly [number, number]
      request.atMs = atMs
      request.prompt = sharesNothing(prompt, plain)
      request.outputTokens = output
      return true
    },
  }
}

function madeTraffic(
  traffic: Extract<Traffic, { kind: 'made' }>,
  seed: string,
  durationMs: number,
): TrafficSource {
  const { arrivals, sharing } = traffic
  const times = timesOf(arrivals, seed)
  const promptLength = lengths(traffic.promptTokens, seed, 'prompt-lengths')
  const outputLength = lengths(traffic.outputTokens, seed, 'output-lengths')
  const groups = randomStream(seed, 'sharing')
  const request: TrafficRequest = { atMs: 0, prompt: { length: 1 }, outputTokens: 1, affinity: -1 }
  const plain = new Map<number, Prompt>()
  return {
    request,
    next() {
      const atMs = times()
      if (!(atMs < durationMs)) return false
      request.atMs = atMs
      const promptTokens = promptLength()
      request.outputTokens = outputLength()
      if (sharing === null) request.prompt = sharesNothing(promptTokens, plain)
      else {
        const group = uniformInteger(groups, 0, sharing.groups - 1)
        request.affinity = group
        request.prompt = sharesStart(promptTokens, group, sharing.tokens)
      }
      return true
    },
  }
}

/** One object for each length: they share nothing whatever they are. */
function sharesNothing(length: number, known: Map<number, Prompt>): Prompt {
  let prompt = known.get(length)
  if (prompt === undefined) {
    prompt = { length, seed: null }
    if (known.size < 100_000) known.set(length, prompt)
  }
  return prompt
}

const sharingBlock = 16

function sharesStart(length: number, group: number, tokens: number): Prompt {
  const blocks = Math.floor(Math.min(tokens, length) / sharingBlock)
  return {
    length,
    blockHashes: Array.from({ length: blocks }, (_, i) => group * 1_000_003 + i),
    blockTokens: sharingBlock,
  }
}

function lengths(distribution: LengthDistribution, seed: string, stream: string): () => number {
  if (distribution.kind === 'fixed') {
    const tokens = Math.max(1, Math.round(distribution.tokens))
    return () => tokens
  }
  const random = randomStream(seed, stream)
  return () => drawLength(distribution, random)
}

function timesOf(arrivals: Exclude<Traffic, { kind: 'trace' }>['arrivals'], seed: string): () => number {
  const random = randomStream(seed, 'arrivals')
  if (arrivals.kind === 'daily') return dailyTimes(arrivals, random)
  if (arrivals.kind === 'poisson') {
    // The commonest, without a generator's cost; the same numbers as `arrivalTimes`, whose first arrival is one gap after 0.
    let atMs = 0
    return () => (atMs += (1000 * exponential(random)) / arrivals.ratePerSecond)
  }
  const times = arrivalTimes(arrivals, random)
  return () => {
    const next = times.next()
    return next.done === true ? Number.POSITIVE_INFINITY : next.value
  }
}

/** By thinning (Lewis and Shedler 1979): candidates at the highest rate, each kept with the share of it that holds then. */
function dailyTimes(
  { lowPerSecond, highPerSecond, periodMs, phaseMs }: DailyRate,
  random: ReturnType<typeof randomStream>,
): () => number {
  let atMs = 0
  return () => {
    for (;;) {
      atMs += (1000 * exponential(random)) / highPerSecond
      const rate = dailyRateAt(lowPerSecond, highPerSecond, periodMs, phaseMs + atMs)
      if (random.next() * highPerSecond < rate) return atMs
    }
  }
}

/** Requests a second at a time of day: low + (high − low)·(1 − cos 2πt/T)/2. */
export function dailyRateAt(low: number, high: number, periodMs: number, atMs: number): number {
  return low + ((high - low) * (1 - Math.cos((2 * Math.PI * atMs) / periodMs))) / 2
}

function traceTraffic(trace: Trace, speed: number, repeat: boolean, durationMs: number): TrafficSource {
  const { entries, blockTokens } = trace
  const sessions = new Map<string, number>()
  const request: TrafficRequest = { atMs: 0, prompt: { length: 1 }, outputTokens: 1, affinity: -1 }
  const last = entries.at(-1)?.atMs ?? 0
  const lapMs = last + last / Math.max(1, entries.length - 1)
  let at = 0
  let startMs = 0
  return {
    request,
    next() {
      if (at === entries.length) {
        if (!repeat || lapMs === 0) return false
        at = 0
        startMs += lapMs
      }
      const entry = entries[at++] as Trace['entries'][number]
      request.atMs = (startMs + entry.atMs) / speed
      if (!(request.atMs < durationMs)) return false
      request.outputTokens = entry.outputTokens
      request.prompt =
        entry.blocks === null
          ? { length: entry.promptTokens, seed: null }
          : { length: entry.promptTokens, blockHashes: entry.blocks, blockTokens }
      request.affinity = affinityOf(entry, sessions)
      return true
    },
  }
}

function affinityOf(entry: Trace['entries'][number], sessions: Map<string, number>): number {
  if (entry.session !== null) {
    let number = sessions.get(entry.session)
    if (number === undefined) sessions.set(entry.session, (number = sessions.size))
    return number
  }
  return entry.blocks?.[0] ?? -1
}
