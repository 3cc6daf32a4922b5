import { nearest } from '../../base/edit-distance.ts'
import { PlimsollError } from '../../base/errors.ts'
import { divide, multiply, parseRational, rational, toNumber } from '../../stats/rational.ts'
import { defaultGood, type Limit, type Objective, type ObjectiveMetric, type RunLimit } from './objective.ts'

/** What each metric may be called. Other tools' words lead to the figure that has the same formula. */
const metricWords: Readonly<Record<string, ObjectiveMetric>> = {
  ttft: 'ttft',
  ttfc: 'ttfc',
  ttfo: 'ttfc',
  ttfb: 'ttfb',
  tpot: 'tpot',
  e2e: 'e2e',
  e2el: 'e2e',
  latency: 'e2e',
  gap: 'gap',
  gaps: 'gap',
  itl: 'gap',
}
/** Milliseconds in a unit, as a fraction. */
const units: Readonly<Record<string, readonly [bigint, bigint]>> = {
  us: [1n, 1000n],
  µs: [1n, 1000n],
  μs: [1n, 1000n],
  ms: [1n, 1n],
  s: [1000n, 1n],
}
const metricList = 'ttft, ttfc, ttfb, tpot, e2e or gap'
const form =
  "limits such as 'ttft < 500ms and tpot < 30ms', 'p99 tpot <= 10ms', with 'good 99%' for the share"

interface Token {
  readonly text: string
  /** 0-based offset in the objective. */
  readonly at: number
}

/**
 * Reads an objective. Per request `ttft < 500ms and tpot < 30ms`, with `good 99%` for the share that must pass; over a run
 * `p99 tpot <= 10ms`; both may be mixed. vLLM's `ttft:500 tpot:30` (ms) is vLLM's own count. `where` names the place in errors
 * (`--slo`, or a file).
 * @throws PlimsollError PLIM_OBJECTIVE, with the column and the nearest right word.
 */
export function parseObjective(text: string, where = 'the objective'): Objective {
  if (text.trim() === '') throw new PlimsollError('PLIM_OBJECTIVE', `${where} is empty`, { expected: form })
  const reader = createReader(text, where)
  return /^\s*[A-Za-z0-9_]+\s*:/.test(text) ? parseVllm(reader) : parseSlo(reader)
}

interface Reader {
  peek(): Token | null
  next(): Token | null
  /** What was found at a place, and what would have been right. */
  refuse(token: Token | null, expected: string, hint?: string): PlimsollError
}

function createReader(text: string, where: string): Reader {
  const tokens: Token[] = []
  const pattern = /\s*(<=|>=|=<|=>|==|!=|≤|≥|&&|\|\||[<>=:,;%()&|]|[^\s<>=:,;%()&|≤≥]+)/gy
  for (const match of text.matchAll(pattern)) {
    const word = match[1] ?? ''
    tokens.push({ text: word, at: match.index + match[0].length - word.length })
  }
  let at = 0
  return {
    peek: () => tokens[at] ?? null,
    next: () => tokens[at++] ?? null,
    refuse: (token, expected, hint) =>
      new PlimsollError('PLIM_OBJECTIVE', `${where} cannot be read`, {
        expected,
        received: token === null ? `the end of "${text}"` : `"${token.text}" in "${text}"`,
        where: { file: where, line: 1, column: (token?.at ?? text.length) + 1 },
        ...(hint === undefined ? {} : { hint }),
      }),
  }
}

function parseSlo(reader: Reader): Objective {
  const each: Limit[] = []
  const run: RunLimit[] = []
  let good: string | null = null
  for (;;) {
    const token = reader.peek()
    const word = token?.text.toLowerCase() ?? ''
    if (word === 'good') {
      if (good !== null) throw reader.refuse(token, 'one share: good is said twice')
      reader.next()
      good = readShare(reader)
    } else if (/^p[\d.]/.test(word)) {
      reader.next()
      run.push({ percentile: readLevel(reader, token), ...readLimit(reader) })
    } else each.push(readLimit(reader))
    const after = reader.next()
    if (after === null) break
    if (isJoin(after)) continue
    if (after.text === ',' || after.text === ';') {
      const next = reader.peek()
      if (next !== null && isJoin(next)) reader.next()
      continue
    }
    throw reader.refuse(after, "'and', a comma, or the end", joinHint(after))
  }
  if (good !== null && each.length === 0) {
    throw reader.refuse(null, 'a limit for each request beside the share, such as ttft < 500ms')
  }
  return { kind: 'slo', each, run, good: each.length === 0 ? null : (good ?? defaultGood) }
}

function isJoin(token: Token): boolean {
  return token.text.toLowerCase() === 'and' || token.text === '&&' || token.text === '&'
}

function joinHint(token: Token): string | undefined {
  if (/^(or|\|\|?)$/i.test(token.text)) return 'all limits hold together: there is no or'
  const word = token.text.toLowerCase()
  if (word === 'good') return 'put a comma before good, as in: ttft < 500ms, good 99%'
  if (/^p\d/.test(word)) return `put a comma, or 'and', before ${token.text}`
  if (metricWord(word) in metricWords) return `put 'and' before ${token.text}`
  return didYouMean(token.text, ['and', 'good'])
}

function readLimit(reader: Reader): Limit {
  const metric = readMetric(reader)
  const operator = readOperator(reader)
  return { metric, operator, ...readDuration(reader) }
}

function readMetric(reader: Reader): ObjectiveMetric {
  const token = reader.next()
  const metric = token === null ? undefined : metricWords[metricWord(token.text)]
  if (metric !== undefined) return metric
  if (token !== null && /^(mean|avg|average|median|max|min)$/i.test(token.text)) {
    throw reader.refuse(token, 'a percentile such as p50, p99 or p99.9, or a limit for each request')
  }
  throw reader.refuse(
    token,
    metricList,
    token === null ? undefined : didYouMean(token.text, Object.keys(metricWords)),
  )
}

function metricWord(text: string): string {
  return text.toLowerCase().replace(/_ms$/, '')
}

function readOperator(reader: Reader): '<' | '<=' {
  const token = reader.next()
  switch (token?.text) {
    case '<':
      return '<'
    case '<=':
    case '=<':
    case '≤':
      return '<='
    case '>':
    case '>=':
    case '=>':
    case '≥':
      throw reader.refuse(token, '< or <=', 'limits are upper ones: say what the time must stay under')
    default:
      throw reader.refuse(token, '< or <=')
  }
}

function readDuration(reader: Reader): { limitMs: number; limitText: string } {
  const token = reader.next()
  if (token === null) throw reader.refuse(token, 'a time with its unit, such as 500ms or 0.5s')
  const match = /^(\d+(?:\.\d+)?|\.\d+)([a-zµμ]*)$/i.exec(token.text)
  if (match === null) throw reader.refuse(token, 'a time with its unit, such as 500ms or 0.5s')
  const number = match[1] ?? ''
  let unit = match[2] ?? ''
  if (unit === '') {
    const following = reader.peek()
    if (following === null || !(following.text.toLowerCase() in units)) {
      throw reader.refuse(
        token,
        'a time with its unit, such as 500ms or 0.5s',
        `without a unit it could be either: say ${number}ms or ${number}s`,
      )
    }
    unit = reader.next()?.text ?? ''
  }
  const factor = units[unit.toLowerCase()]
  if (factor === undefined)
    throw reader.refuse(token, 'one of the units us, ms or s', didYouMean(unit, Object.keys(units)))
  const exact = multiply(parseRational(number), rational(factor[0], factor[1]))
  if (exact.num === 0n) throw reader.refuse(token, 'a limit above 0: no time is under 0')
  return { limitMs: toNumber(exact), limitText: `${number}${unit.toLowerCase()}` }
}

/** The level of `p99.9`, without the p; above 0 and below 100. */
function readLevel(reader: Reader, token: Token | null): string {
  const level = token?.text.slice(1) ?? ''
  if (!/^\d+(\.\d+)?$/.test(level) || Number(level) <= 0 || Number(level) >= 100) {
    throw reader.refuse(token, 'a percentile such as p50, p99 or p99.9')
  }
  return level
}

function readShare(reader: Reader): string {
  const token = reader.next()
  const number = token?.text ?? ''
  const percent = reader.peek()?.text === '%'
  if (!/^(\d+(\.\d+)?|\.\d+)$/.test(number))
    throw reader.refuse(token, 'a share in percent, such as good 99.5%')
  if (!percent) {
    const hint = Number(number) <= 1 ? `${Number(number) * 100}%` : `${number}%`
    throw reader.refuse(token, 'a share in percent, such as good 99.5%', `did you mean good ${hint}?`)
  }
  reader.next()
  const share = divide(parseRational(number), rational(100n))
  if (share.num === 0n || share.num > share.den) throw reader.refuse(token, 'a share above 0% and up to 100%')
  return `${number}%`
}

/** vLLM's `--goodput`: `ttft:500 tpot:30 e2el:3000`, in ms. */
function parseVllm(reader: Reader): Objective {
  const each: Limit[] = []
  for (;;) {
    const token = reader.next()
    if (token === null) break
    if (token.text === ',') continue
    const metric = metricWords[token.text.toLowerCase()]
    if (metric !== 'ttft' && metric !== 'tpot' && metric !== 'e2e') {
      throw reader.refuse(token, 'ttft, tpot or e2el', didYouMean(token.text, ['ttft', 'tpot', 'e2el']))
    }
    const colon = reader.next()
    if (colon?.text !== ':') {
      throw reader.refuse(
        colon,
        `a colon and milliseconds, such as ${token.text}:500`,
        'the two forms do not mix',
      )
    }
    const value = reader.next()
    if (value === null || !/^\d+(\.\d+)?$/.test(value.text)) {
      const hint = /^[\d.]+ms$/i.test(value?.text ?? '')
        ? 'in this form the unit is ms and is not written'
        : undefined
      throw reader.refuse(value, 'milliseconds without a unit, such as 500', hint)
    }
    if (each.some((limit) => limit.metric === metric))
      throw reader.refuse(token, `each figure once: ${token.text} is there twice`)
    each.push({ metric, operator: '<=', limitMs: Number(value.text), limitText: `${value.text}ms` })
  }
  return { kind: 'vllm', each, run: [], good: null }
}

function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word.toLowerCase(), candidates, { most: Math.max(1, Math.floor(word.length / 2)) })
  return near === null ? undefined : `did you mean ${near}?`
}
