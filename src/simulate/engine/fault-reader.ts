import { editDistance } from '../../base/edit-distance.ts'
import { PlimsollError } from '../../base/errors.ts'

const timeUnitsMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
}
const byteUnits: Readonly<Record<string, number>> = {
  b: 1,
  byte: 1,
  bytes: 1,
  kb: 1024,
  kib: 1024,
  k: 1024,
  mb: 1_048_576,
  mib: 1_048_576,
}

/** The words of a fault, read from left to right, with errors that know their column. */
export class FaultReader {
  /** Number of the next word. */
  index = 0
  private readonly text: string
  private readonly file: string
  private readonly forms: ReadonlyArray<readonly [string, string]>
  private readonly words: string[] = []
  private readonly columns: number[] = []

  constructor(text: string, file: string, forms: ReadonlyArray<readonly [string, string]>) {
    this.text = text
    this.file = file
    this.forms = forms
    for (const match of text
      .toLowerCase()
      .replaceAll('×', 'x')
      .matchAll(/>=|>|~|[^\s>~]+/g)) {
      this.words.push(match[0])
      this.columns.push(match.index + 1)
    }
  }

  done(): boolean {
    return this.index >= this.words.length
  }

  /** The word at `index`, or '' behind the end. */
  at(index: number): string {
    return this.words[index] ?? ''
  }

  word(): string {
    if (this.done()) this.fail('the name of a fault', this.index)
    return this.at(this.index++)
  }

  back(): void {
    this.index -= 1
  }

  maybe(word: string): boolean {
    if (this.at(this.index) !== word) return false
    this.index += 1
    return true
  }

  maybePrefix(sign: string): boolean {
    return this.maybe(sign)
  }

  need(word: string): void {
    if (!this.maybe(word)) this.fail(`"${word}"`, this.index)
  }

  /** `3s`, `400ms`, `1.5 s`; in ms. */
  duration(expected: string): number {
    return this.quantity(timeUnitsMs, expected)
  }

  /** `16KB`, `4096 bytes`; KB is 1024. */
  bytes(): number {
    return Math.round(this.quantity(byteUnits, 'a size, as 16KB'))
  }

  count(expected: string): number {
    const word = this.at(this.index)
    if (!/^\d+$/.test(word)) this.fail(expected, this.index)
    this.index += 1
    return Number(word)
  }

  /** A whole number that is followed by one of `units`; null, with nothing read, otherwise. */
  countBefore(...units: string[]): number | null {
    const word = this.at(this.index)
    if (!/^\d+$/.test(word) || !units.includes(this.at(this.index + 1))) return null
    this.index += 2
    return Number(word)
  }

  /** `x3`, `x 3`, `3x`, `x1.5`. */
  factor(): number {
    const spaced = this.maybe('x')
    const match = /^x?(\d+(?:\.\d+)?|\.\d+)x?$/.exec(this.at(this.index))
    const factor = Number(match?.[1] ?? 0)
    if (match === null || factor <= 0 || (!spaced && match[0] === match[1])) {
      this.fail('how many times slower, as x3', this.index)
    }
    this.index += 1
    return factor
  }

  /** `5%`, `0.05`; a share of 1. */
  probability(): number {
    const word = this.at(this.index)
    const match = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(word)
    const share = Number(match?.[1]) / (match?.[2] === '%' ? 100 : 1)
    if (match === null || share > 1) this.fail('a probability, as 5% or 0.05', this.index)
    this.index += 1
    return share
  }

  /** `-20%`, `-100 blocks`. The sign may be the typographic one. */
  loss(): { readonly lostShare: number; readonly lostBlocks: number } {
    const match = /^[-−–](\d+(?:\.\d+)?)(%?)$/.exec(this.at(this.index))
    if (match === null) return this.fail('what is lost, as -20% or -100 blocks', this.index)
    const amount = Number(match[1])
    if (match[2] === '%') {
      if (amount > 100) this.fail('at most -100%', this.index)
      this.index += 1
      return { lostShare: amount / 100, lostBlocks: 0 }
    }
    this.index += 1
    if (!this.maybe('block')) this.need('blocks')
    return { lostShare: 0, lostBlocks: Math.round(amount) }
  }

  /** Throws PLIM_FAULT at word number `index`, with the right form that is nearest to what was written. */
  fail(expected: string, index: number): never {
    const word = this.at(index)
    throw new PlimsollError('PLIM_FAULT', `cannot read the fault "${this.text}"`, {
      expected,
      received: word === '' ? 'the end' : `"${word}"`,
      where: { file: this.file, line: 1, column: this.columns[index] ?? this.text.length + 1 },
      hint: `as in: ${this.nearestForm()}`,
    })
  }

  private quantity(units: Readonly<Record<string, number>>, expected: string): number {
    const match = /^(\d+(?:\.\d+)?|\.\d+)([a-z]*)$/.exec(this.at(this.index))
    if (match === null) return this.fail(expected, this.index)
    const apart = match[2] === ''
    const scale = units[apart ? this.at(this.index + 1) : (match[2] as string)]
    if (scale === undefined) return this.fail(expected, apart ? this.index + 1 : this.index)
    this.index += apart ? 2 : 1
    return Number(match[1]) * scale
  }

  /** The form with the same first word, else with the nearest; of several, the one nearest as a whole. */
  private nearestForm(): string {
    const written = this.words.join(' ')
    const head = this.at(0)
    let best = this.forms[0]?.[1] ?? ''
    let bestCost = Number.POSITIVE_INFINITY
    for (const [keyword, example] of this.forms) {
      const cost = 100 * editDistance(head, keyword) + editDistance(written, example)
      if (cost >= bestCost) continue
      bestCost = cost
      best = example
    }
    return best
  }
}
