import { FaultReader } from './fault-reader.ts'
import type { Fault, Recurrence, RequestScope } from './fault.ts'

/** One right example of each form: what an error shows. */
export const faultForms: ReadonlyArray<readonly [keyword: string, example: string]> = [
  ['stall', 'stall 3s at 10s'],
  ['stall', 'stall 400ms every ~30s'],
  ['slow', 'slow x3 for 20 steps'],
  ['cut', 'cut stream after token 37'],
  ['reset', 'reset after token 5 with probability 10%'],
  ['429', '429 when waiting>64'],
  ['503', '503 5%'],
  ['error', 'error object mid-stream'],
  ['buffer', 'buffer output 16KB'],
  ['no', 'no usage'],
  ['kv', 'kv -20% at 30s'],
  ['freeze', 'freeze metrics at 10s'],
  ['drop', 'drop metrics at 10s for 30s'],
]

/** What a fault may begin with. */
const faultNames =
  'stall, slow, cut, reset, error, buffer, no usage, kv, freeze metrics, drop metrics, or a status such as 429'

/** What may stand behind the head of a fault, in any order, each at most once. */
interface Clauses {
  readonly atMs?: number
  readonly fromMs?: number
  readonly untilMs?: number
  readonly forMs?: number
  readonly forSteps?: number
  readonly every?: { readonly everyMs: number; readonly random: boolean }
  readonly probability?: number
  readonly waitingOver?: number
  readonly afterTokens?: number
  readonly retryAfterMs?: number
}

const inRequests = ['at', 'from', 'for', 'until', 'with', '1 in', 'a percentage']

/**
 * Reads one fault: a head, then clauses in any order. `file` is named in errors (a flag or a file).
 *
 *     stall D [at T | every [~]D]                        slow xF [for N steps | for D] [at T | every [~]D]
 *     cut [stream] [after token N]                       reset [after token N]
 *     STATUS [when waiting>N] [retry after D]            error [object] [mid-stream] [after token N]
 *     buffer [output] SIZE                               no usage
 *     kv -P% | kv -N blocks [at T] [for D]               freeze | drop metrics [at T] [for D]
 *
 * Faults of requests take `P%`, `with probability P%`, `1 in N`, and `at T`, `from T`, `until T`, `for D` (by arrival).
 * Throws PLIM_FAULT with the position, what was expected there, and the nearest right form.
 */
export function parseFault(text: string, file = '--fault'): Fault {
  const read = new FaultReader(text, file, faultForms)
  const head = read.word()
  switch (head) {
    case 'stall': {
      const durationMs = read.duration('how long, as 3s')
      const clauses = readClauses(read, ['at', 'every', 'from', 'until'])
      if (clauses.every !== undefined && clauses.every.everyMs <= durationMs) {
        read.fail('a period longer than the stall', read.index)
      }
      return { text, kind: 'stall', durationMs, recurs: recurrence(clauses) }
    }
    case 'slow': {
      const factor = read.factor()
      const clauses = readClauses(read, ['at', 'every', 'from', 'until', 'for', 'for N steps'])
      return slow(text, factor, clauses)
    }
    case 'cut':
    case 'reset': {
      if (head === 'cut') read.maybe('stream')
      const clauses = readClauses(read, ['after', ...inRequests])
      const afterTokens = clauses.afterTokens ?? (head === 'cut' ? 1 : 0)
      return { text, kind: head, afterTokens, scope: scope(clauses) }
    }
    case 'error': {
      read.maybe('object')
      if (read.maybe('mid')) read.need('stream')
      else read.maybe('mid-stream')
      const clauses = readClauses(read, ['after', ...inRequests])
      return { text, kind: 'error_object', afterTokens: clauses.afterTokens ?? 1, scope: scope(clauses) }
    }
    case 'buffer': {
      read.maybe('output')
      const bytes = read.bytes()
      return { text, kind: 'buffer', bytes, scope: scope(readClauses(read, inRequests)) }
    }
    case 'no': {
      read.need('usage')
      return { text, kind: 'no_usage', scope: scope(readClauses(read, inRequests)) }
    }
    case 'kv': {
      const lost = read.loss()
      const span = spanOf(readClauses(read, ['at', 'from', 'for', 'until']))
      return { text, kind: 'kv', ...lost, atMs: span.fromMs, untilMs: span.untilMs }
    }
    case 'freeze':
    case 'drop': {
      read.need('metrics')
      const span = spanOf(readClauses(read, ['at', 'from', 'for', 'until']))
      return { text, kind: head === 'freeze' ? 'freeze_metrics' : 'drop_metrics', ...span }
    }
    default: {
      const status = /^[45]\d\d$/.test(head) ? Number(head) : null
      if (status === null) return read.fail(faultNames, 0)
      const clauses = readClauses(read, ['when', 'retry', ...inRequests])
      return {
        text,
        kind: 'reject',
        status,
        waitingOver: clauses.waitingOver ?? null,
        retryAfterMs: clauses.retryAfterMs ?? null,
        scope: scope(clauses),
      }
    }
  }
}

function slow(text: string, factor: number, clauses: Clauses): Fault {
  return {
    text,
    kind: 'slow',
    factor,
    steps: clauses.forSteps ?? null,
    durationMs: clauses.forMs ?? null,
    recurs: recurrence(clauses),
  }
}

function readClauses(read: FaultReader, allowed: readonly string[]): Clauses {
  let clauses: Clauses = {}
  while (!read.done()) {
    const at = read.index
    const more = readClause(read, allowed)
    const [name] = Object.keys(more)
    if (name !== undefined && name in clauses) read.fail(`"${read.at(at)}" only once`, at)
    clauses = { ...clauses, ...more }
  }
  if (clauses.every !== undefined && clauses.atMs !== undefined) {
    read.fail('either "at" or "every", not both', read.index)
  }
  return clauses
}

function readClause(read: FaultReader, allowed: readonly string[]): Clauses {
  const at = read.index
  const word = read.word()
  const may = (name: string) => allowed.includes(name) || read.fail(list(allowed), at)
  switch (word) {
    case 'at':
      return may('at') && { atMs: read.duration('a time, as 10s') }
    case 'from':
      return may('from') && { fromMs: read.duration('a time, as 10s') }
    case 'until':
      return may('until') && { untilMs: read.duration('a time, as 40s') }
    case 'for': {
      may('for')
      const steps = allowed.includes('for N steps') ? read.countBefore('step', 'steps') : null
      return steps === null ? { forMs: read.duration('a time, as 30s') } : { forSteps: steps }
    }
    case 'every': {
      may('every')
      const random = read.maybePrefix('~')
      const everyMs = read.duration('a time, as 30s or ~30s')
      if (everyMs < 1) read.fail('a period of 1 ms or more', read.index - 1)
      return { every: { everyMs, random } }
    }
    case 'after': {
      may('after')
      if (read.maybe('token')) return { afterTokens: read.count('the number of a token') }
      const afterTokens = read.countBefore('token', 'tokens')
      return afterTokens === null ? read.fail('"token" and a number', read.index) : { afterTokens }
    }
    case 'when': {
      may('when')
      read.need('waiting')
      const equal = read.maybe('>=')
      if (!equal) read.need('>')
      return { waitingOver: read.count('a number of requests') - (equal ? 1 : 0) }
    }
    case 'retry':
      may('retry')
      read.need('after')
      return { retryAfterMs: read.duration('a time, as 2s') }
    case 'with':
      may('with')
      read.need('probability')
      return { probability: read.probability() }
    case '1': {
      may('1 in')
      read.need('in')
      return { probability: 1 / Math.max(1, read.count('a number, as 1 in 20')) }
    }
    default: {
      if (word.endsWith('%') && allowed.includes('a percentage')) {
        read.back()
        return { probability: read.probability() }
      }
      return read.fail(list(allowed), at)
    }
  }
}

function list(allowed: readonly string[]): string {
  const words = allowed.map((word) => (word.includes(' ') ? word : `"${word}"`))
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}, or the end`
}

function recurrence(clauses: Clauses): Recurrence {
  if (clauses.every === undefined) return { kind: 'once', atMs: clauses.atMs ?? clauses.fromMs ?? 0 }
  return { kind: 'every', ...clauses.every, fromMs: clauses.fromMs ?? 0, untilMs: clauses.untilMs ?? null }
}

function spanOf(clauses: Clauses): { readonly fromMs: number; readonly untilMs: number | null } {
  const fromMs = clauses.atMs ?? clauses.fromMs ?? 0
  const untilMs = clauses.untilMs ?? (clauses.forMs === undefined ? null : fromMs + clauses.forMs)
  return { fromMs, untilMs }
}

function scope(clauses: Clauses): RequestScope {
  return { probability: clauses.probability ?? 1, ...spanOf(clauses) }
}
