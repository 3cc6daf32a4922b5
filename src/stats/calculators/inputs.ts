import { PlimsollError, restated } from '../../base/errors.ts'
import { OutOfReach } from '../../base/units.ts'

/** What was typed: arguments without a flag in their order, and texts by flag. */
export interface Given {
  readonly args: readonly string[]
  readonly flags: Readonly<Record<string, readonly string[]>>
}

/** One input of a calculator: how it is called, and how its text is read. */
export interface Input<T> {
  readonly placeholder: string
  readonly brief: string
  /** Other names of the flag. */
  readonly also: readonly string[]
  /** May be given without its flag. */
  readonly bare: boolean
  /** Takes several values. */
  readonly many: boolean
  /** What the help says of the value when none is given. */
  readonly fallback: string | null
  /** `texts` null: not given. Throws PLIM_NUMBER for a text that cannot be read, PLIM_USAGE where one is needed. */
  readonly read: (texts: readonly string[] | null, what: string) => T
}

/** How one text is read. */
export interface Reading<T> {
  readonly placeholder: string
  readonly read: (text: string, what: string) => T
}

export interface InputOptions {
  readonly also?: readonly string[]
  readonly bare?: boolean
}

function input<T>(
  reading: Reading<unknown>,
  brief: string,
  options: InputOptions,
  rest: Pick<Input<T>, 'many' | 'fallback' | 'read'>,
): Input<T> {
  const { also = [], bare = false } = options
  return { placeholder: reading.placeholder, brief, also, bare, ...rest }
}

/** An input that must be given. */
export function needed<T>(reading: Reading<T>, brief: string, options: InputOptions = {}): Input<T> {
  return input<T>(reading, brief, options, {
    many: false,
    fallback: null,
    read(texts, what) {
      if (texts === null) throw missing(what, reading.placeholder, brief)
      return reading.read(single(texts, what), what)
    },
  })
}

/** An input that may be left out. */
export function optional<T>(reading: Reading<T>, brief: string, options: InputOptions = {}): Input<T | null> {
  return input<T | null>(reading, brief, options, {
    many: false,
    fallback: null,
    read: (texts, what) => (texts === null ? null : reading.read(single(texts, what), what)),
  })
}

/** An input with a value of its own when it is left out, written as one would type it. */
export function assumed<T>(
  reading: Reading<T>,
  fallback: string,
  brief: string,
  options: InputOptions = {},
): Input<T> {
  return input<T>(reading, brief, options, {
    many: false,
    fallback,
    read: (texts, what) => reading.read(texts === null ? fallback : single(texts, what), what),
  })
}

/** Any number of values, separated by white space or commas; `atLeast` of them. */
export function several<T>(
  reading: Reading<T>,
  atLeast: number,
  brief: string,
  options: InputOptions = {},
): Input<readonly T[]> {
  return input<readonly T[]>(reading, brief, options, {
    many: true,
    fallback: null,
    read(texts, what) {
      const parts = (texts ?? []).flatMap((text) => text.split(/\s*,\s*|\s+/))
      if (texts === null ? atLeast > 0 : parts.every((part) => part === '')) {
        throw missing(what, `${reading.placeholder}…`, brief)
      }
      if (parts.length < atLeast) {
        throw new PlimsollError('PLIM_NUMBER', `${what} needs at least ${atLeast} values`, {
          expected: `${reading.placeholder}…: ${brief}`,
          received: String(parts.length),
        })
      }
      return parts.map((part) => reading.read(part, what))
    },
  })
}

/** A flag that may be repeated; each text is one value, whatever separates its parts. */
export function repeated<T>(
  reading: Reading<T>,
  brief: string,
  options: InputOptions = {},
): Input<readonly T[]> {
  return input<readonly T[]>(reading, brief, options, {
    many: true,
    fallback: null,
    read: (texts, what) => (texts ?? []).map((text) => reading.read(text, what)),
  })
}

/** The values of every input. An argument without a flag goes to the first free input that can read it. */
export function assignInputs(
  inputs: Readonly<Record<string, Input<unknown>>>,
  given: Given,
  usage: string,
): Readonly<Record<string, unknown>> {
  const texts: Record<string, string[]> = {}
  for (const [name, values] of Object.entries(given.flags)) texts[name] = [...values]
  for (const arg of given.args) {
    const named = /^([a-z][\w-]*)=(.*)$/is.exec(arg)
    const name = named === null ? null : canonicalName(inputs, named[1]!)
    if (named !== null && name !== null) {
      texts[name] = [...(texts[name] ?? []), named[2]!]
      continue
    }
    const free = Object.entries(inputs).filter(
      ([key, one]) => one.bare && (texts[key] === undefined || one.many),
    )
    const first = free[0]
    if (first === undefined) {
      throw new PlimsollError('PLIM_USAGE', `${JSON.stringify(arg)} is one too many`, { hint: usage })
    }
    const taker = free.find(([key, one]) => canRead(one, arg, key))
    if (taker === undefined) {
      withUsage(usage, () => first[1].read([arg], first[0]))
      continue
    }
    texts[taker[0]] = [...(texts[taker[0]] ?? []), arg]
  }
  return Object.fromEntries(
    Object.entries(inputs).map(([name, one]) => [
      name,
      withUsage(usage, () => one.read(texts[name] ?? null, `--${name}`)),
    ]),
  )
}

function canonicalName(inputs: Readonly<Record<string, Input<unknown>>>, name: string): string | null {
  const lower = name.toLowerCase()
  return Object.keys(inputs).find((key) => key === lower || inputs[key]!.also.includes(lower)) ?? null
}

function canRead(one: Input<unknown>, text: string, what: string): boolean {
  try {
    // A list may need more than one value; whether this one belongs to it is told by its kind, not by its number.
    one.read(one.many ? Array.from({ length: 8 }, () => text) : [text], what)
    return true
  } catch (error) {
    // A number of the right kind that is too small or too large is meant for this input all the same.
    if (error instanceof OutOfReach) return true
    if (error instanceof PlimsollError) return false
    throw error
  }
}

/** The same error with an example of the whole line, where it has no better hint. */
function withUsage<T>(usage: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error
    throw restated(error, { hint: error.hint ?? `for example ${usage}` })
  }
}

function single(texts: readonly string[], what: string): string {
  if (texts.length === 1) return texts[0]!
  throw new PlimsollError('PLIM_USAGE', `${what} is given ${texts.length} times`, {
    received: texts.join(' and '),
  })
}

function missing(what: string, placeholder: string, brief: string): PlimsollError {
  return new PlimsollError('PLIM_USAGE', `${what} is missing`, {
    expected: `${what} ${placeholder}: ${brief}`,
  })
}
