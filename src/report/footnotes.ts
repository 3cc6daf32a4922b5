const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** The number of a footnote as it stands in the text: ¹, ¹². */
export function footnoteMark(index: number): string {
  return String(index).replaceAll(/\d/g, (digit) => digits[Number(digit)]!)
}

/** Collects footnotes in the order of their marks. The same text twice is one footnote. */
export interface Footnotes {
  readonly mark: (text: string) => string
  readonly lines: () => readonly string[]
}

export function footnotes(): Footnotes {
  const texts: string[] = []
  return {
    mark(text) {
      const known = texts.indexOf(text)
      return footnoteMark(known < 0 ? texts.push(text) : known + 1)
    },
    lines: () => texts.map((text, index) => `${footnoteMark(index + 1)} ${text}`),
  }
}
