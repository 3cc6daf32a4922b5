import { parsePrometheusNumber } from './prometheus-number.ts'

/** The labels of a series. The object has no prototype: `constructor` and `__proto__` are label names like any other. */
export type Labels = Readonly<Record<string, string>>

export interface Exemplar {
  readonly labels: Labels
  readonly value: number
  /** Milliseconds since 1970; null where the exemplar has none. */
  readonly timestampMs: number | null
}

export interface Sample {
  readonly name: string
  readonly labels: Labels
  /** As scraped: NaN and the infinities are values of the format. */
  readonly value: number
  /** Milliseconds since 1970; null where the line has none. */
  readonly timestampMs: number | null
  readonly exemplar: Exemplar | null
}

/** Why a line, or its exemplar, could not be read. `column` counts from 1. */
export class LineFault extends Error {
  readonly column: number
  readonly expected: string
  readonly received: string

  constructor(column: number, expected: string, received: string) {
    super(`expected ${expected}, received ${received}`)
    this.column = column
    this.expected = expected
    this.received = received
  }
}

export interface SampleLine {
  readonly sample: Sample
  /** The exemplar was there but could not be read; the sample stands. */
  readonly exemplarFault: LineFault | null
}

const metricName = /[a-zA-Z_:][a-zA-Z0-9_:]*/y
const labelName = /[a-zA-Z_][a-zA-Z0-9_]*/y
const token = /[^ \t#]+/y

/** The longest exemplar label set that OpenMetrics allows, in characters of names and values together. */
const exemplarLabelLimit = 128

/**
 * One sample line: `name{label="value",} 1.5 1700000000123 # {trace_id="a"} 0.4`. Blanks and tabs may stand anywhere between
 * tokens, a comma may trail, names may be quoted (`{"a.b", x="1"} 2`, the UTF-8 form). Timestamps are whole milliseconds in the
 * text format and seconds with a fraction in OpenMetrics. Throws `LineFault`.
 */
export function parseSampleLine(line: string, openMetrics: boolean): SampleLine {
  const at = { line, index: 0 }
  skipBlanks(at)
  let name = takeMatch(at, metricName)
  skipBlanks(at)
  let labels: Labels = Object.create(null) as Labels
  if (peek(at) === '{') {
    const braces = takeLabels(at, name === null)
    labels = braces.labels
    name ??= braces.name
  } else if (name !== null && !isBlank(line[at.index - 1])) {
    throw fault(at, 'a blank, { or a value after the metric name')
  }
  if (name === null) throw fault({ line, index: 0 }, 'a metric name')
  skipBlanks(at)
  const value = takeNumber(at, 'a value (decimal, NaN, +Inf or -Inf)')
  const gap = skipBlanks(at)
  let timestampMs: number | null = null
  if (at.index < line.length && peek(at) !== '#') {
    if (!gap) throw fault(at, 'a blank after the value')
    timestampMs = takeTimestamp(at, openMetrics)
    skipBlanks(at)
  }
  let exemplar: Exemplar | null = null
  let exemplarFault: LineFault | null = null
  if (peek(at) === '#') {
    try {
      exemplar = takeExemplar(at)
    } catch (error) {
      if (!(error instanceof LineFault)) throw error
      exemplarFault = error
    }
  } else if (at.index < line.length) throw fault(at, 'the end of the line')
  return { sample: { name, labels, value, timestampMs, exemplar }, exemplarFault }
}

interface Cursor {
  readonly line: string
  index: number
}

function takeLabels(at: Cursor, nameAllowed: boolean): { labels: Labels; name: string | null } {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>
  let name: string | null = null
  at.index++
  for (let first = true; ; first = false) {
    skipBlanks(at)
    if (peek(at) === '}') {
      at.index++
      return { labels, name }
    }
    const start = at.index
    const quoted = peek(at) === '"'
    const label = quoted ? takeQuoted(at) : takeMatch(at, labelName)
    if (label === null) throw fault(at, first ? 'a label name or }' : 'a label name or } after the comma')
    skipBlanks(at)
    if (quoted && first && nameAllowed && peek(at) !== '=') {
      name = label
    } else {
      if (peek(at) !== '=') throw fault(at, '= after the label name')
      at.index++
      skipBlanks(at)
      if (peek(at) !== '"') throw fault(at, 'a label value in double quotes')
      if (Object.hasOwn(labels, label))
        throw new LineFault(start + 1, 'each label once', `a second "${label}"`)
      labels[label] = takeQuoted(at)
    }
    skipBlanks(at)
    if (peek(at) === ',') at.index++
    else if (peek(at) !== '}') throw fault(at, ', or } after the label value')
  }
}

/** A quoted text: `\\`, `\"` and `\n` are escapes; a backslash before anything else stands for itself. */
function takeQuoted(at: Cursor): string {
  const start = at.index
  let text = ''
  let from = ++at.index
  for (;;) {
    const character = at.line[at.index]
    if (character === undefined)
      throw new LineFault(start + 1, 'a closing double quote', 'the end of the line')
    if (character === '"') {
      text += at.line.slice(from, at.index++)
      return text
    }
    if (character === '\\') {
      const escaped = unescape(at.line[at.index + 1])
      if (escaped !== null) {
        text += at.line.slice(from, at.index) + escaped
        from = at.index + 2
      }
      at.index++
    }
    at.index++
  }
}

function unescape(character: string | undefined): string | null {
  if (character === 'n') return '\n'
  return character === '\\' || character === '"' ? character : null
}

function takeTimestamp(at: Cursor, openMetrics: boolean): number {
  const start = at.index
  const text = takeMatch(at, token) ?? ''
  if (openMetrics) {
    const seconds = parsePrometheusNumber(text)
    if (seconds !== null && Number.isFinite(seconds)) return secondsToMs(seconds)
    throw new LineFault(start + 1, 'a timestamp in seconds', quote(text))
  }
  if (/^[+-]?\d+$/.test(text)) return Number(text)
  throw new LineFault(start + 1, 'a timestamp in whole milliseconds', quote(text))
}

function takeExemplar(at: Cursor): Exemplar {
  at.index++
  skipBlanks(at)
  const start = at.index
  if (peek(at) !== '{') throw fault(at, '{ after the # of an exemplar')
  const { labels } = takeLabels(at, false)
  let length = 0
  for (const [name, value] of Object.entries(labels)) length += countCodePoints(name) + countCodePoints(value)
  if (length > exemplarLabelLimit) {
    throw new LineFault(
      start + 1,
      `at most ${exemplarLabelLimit} characters of exemplar labels`,
      String(length),
    )
  }
  skipBlanks(at)
  const value = takeNumber(at, 'the value of the exemplar')
  skipBlanks(at)
  const timestampMs = at.index < at.line.length ? takeTimestamp(at, true) : null
  skipBlanks(at)
  if (at.index < at.line.length) throw fault(at, 'the end of the line after the exemplar')
  return { labels, value, timestampMs }
}

function takeNumber(at: Cursor, expected: string): number {
  const start = at.index
  const text = takeMatch(at, token)
  if (text === null) throw fault(at, expected)
  const value = parsePrometheusNumber(text)
  if (value === null) throw new LineFault(start + 1, expected, quote(text))
  return value
}

function countCodePoints(text: string): number {
  return Array.from(text).length
}

/** Seconds as a decimal to milliseconds; a double of today's epoch is exact to a quarter microsecond, so microseconds are kept. */
function secondsToMs(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e3
}

function takeMatch(at: Cursor, pattern: RegExp): string | null {
  pattern.lastIndex = at.index
  const found = pattern.exec(at.line)
  if (found === null) return null
  at.index = pattern.lastIndex
  return found[0]
}

function peek(at: Cursor): string | undefined {
  return at.line[at.index]
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}

function skipBlanks(at: Cursor): boolean {
  const start = at.index
  while (isBlank(at.line[at.index])) at.index++
  return at.index > start
}

function fault(at: Cursor, expected: string): LineFault {
  const rest = at.line.slice(at.index, at.index + 24)
  return new LineFault(at.index + 1, expected, rest === '' ? 'the end of the line' : quote(rest))
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
