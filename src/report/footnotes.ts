const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** The number of a footnote as it stands in the text: ¹, ¹². */
export function footnoteMark(index: number): string {
  return String(index).replaceAll(/\d/g, (digit) => digits[Number(digit)]!)
}

/** Collects footnotes in the order of their marks. The same text twice is one footnote. */
export interface Footnotes {
  readonly mark: (text: string) => string
  readonly lines: () => readonly string[]
  /** Those so far, to try what further ones would be. */
  readonly copy: () => Footnotes
}

export function footnotes(known: readonly string[] = []): Footnotes {
  const texts = [...known]
  return {
    mark(text) {
      const at = texts.indexOf(text)
      return footnoteMark(at < 0 ? texts.push(text) : at + 1)
    },
    lines: () => texts.map((text, index) => `${footnoteMark(index + 1)} ${text}`),
    copy: () => footnotes(texts),
  }
}
