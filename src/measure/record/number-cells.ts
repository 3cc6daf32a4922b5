import { numberPages, pageNumbers, type NumberPage, type NumberPages } from './number-pages.ts'

/**
 * Numbers by their place, which are set one after the other and may then be changed. A page of them in which all are the same takes
 * the memory of one.
 */
export interface NumberCells {
  get(index: number): number
  set(index: number, value: number): void
}

const bits = Math.log2(pageNumbers)
const mask = pageNumbers - 1

/** A place of a page in which none was set has `absent`. The pages are those of all columns of a table, or their own. */
export function numberCells(absent: number, pages: NumberPages = numberPages({ folder: null })): NumberCells {
  const pieces: (NumberPage | number | undefined)[] = []
  return {
    get(index) {
      const piece = pieces[index >>> bits]
      return typeof piece === 'object' ? piece.get(index & mask) : (piece ?? absent)
    },
    set(index, value) {
      const at = index >>> bits
      let piece = pieces[at]
      if (typeof piece !== 'object') {
        if (piece === undefined && (index & mask) === 0) piece = pieces[at] = value
        const same = piece ?? absent
        if (Object.is(same, value)) return
        piece = pieces[at] = pages.make(same)
      }
      piece.set(index & mask, value)
    },
  }
}
