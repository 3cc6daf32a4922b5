import { openScratch, type ScratchFile } from './scratch-file.ts'

/** Pages of numbers, more of them than memory should hold: those that were used last are at hand, the others lie in a file. */
export interface NumberPages {
  /** A new page, all of one number. */
  make(fill: number): NumberPage
  /** Whether some lie in the file: then they had better be asked for in their order. */
  readonly areFiled: boolean
}

/** `pageNumbers` numbers by their place. */
export interface NumberPage {
  get(at: number): number
  set(at: number, value: number): void
}

export interface NumberPagesOptions {
  /** The folder in which the file is made, once it is needed: it is gone with the process. Null: everything is held. */
  readonly folder: string | null
  /** Numbers that are held, 32 MB unless given, and never fewer than a page for each column of a table. */
  readonly held?: number
}

/** Numbers of a page, 64 kB. */
export const pageNumbers: number = 1 << 13
const heldNumbers = 1 << 22
const fewestPages = 64

export function numberPages({ folder, held = heldNumbers }: NumberPagesOptions): NumberPages {
  const most =
    folder === null ? Number.POSITIVE_INFINITY : Math.max(fewestPages, Math.floor(held / pageNumbers))
  const resident: Page[] = []
  let hand = 0
  let file: ScratchFile | null = null
  let filed = 0

  /**
   * Memory for a page, in its turn that of one which was not used since the hand came by last (the clock of Corbató, 1968). What
   * cannot be written stays where it is.
   */
  function room(page: Page): Float64Array {
    if (resident.length < most) {
      resident.push(page)
      return new Float64Array(pageNumbers)
    }
    for (;;) {
      hand = (hand + 1) % resident.length
      const old = resident[hand] as Page
      if (!old.used) {
        const values = old.leave(write)
        resident[hand] = page
        return values
      }
      old.used = false
    }
  }

  function write(values: Float64Array, place: number): number {
    file ??= openScratch(folder ?? '.')
    const at = place < 0 ? filed : place
    file.write(values, at * pageNumbers)
    if (place < 0) filed++
    return at
  }

  function load(page: Page, place: number): Float64Array {
    const values = room(page)
    file?.read(values, place * pageNumbers)
    return values
  }

  return {
    make(fill) {
      const page = new Page(load)
      page.enter(room(page).fill(fill))
      return page
    },
    get areFiled() {
      return file !== null
    },
  }
}

class Page implements NumberPage {
  /** Since the hand came by last. */
  used = true
  private values: Float64Array | null = null
  /** Which page of the file it is; −1: it has not been there. */
  private place = -1
  /** The file has not got it as it is now. */
  private changed = true
  private readonly load: (page: Page, place: number) => Float64Array

  constructor(load: (page: Page, place: number) => Float64Array) {
    this.load = load
  }

  enter(values: Float64Array): void {
    this.values = values
  }

  /** Gives its memory up, written first where the file has not got it: `write` says at which place. */
  leave(write: (values: Float64Array, place: number) => number): Float64Array {
    const values = this.values as Float64Array
    if (this.changed) this.place = write(values, this.place)
    this.changed = false
    this.values = null
    return values
  }

  get(at: number): number {
    this.used = true
    return (this.values ??= this.load(this, this.place))[at] as number
  }

  set(at: number, value: number): void {
    this.used = true
    this.values ??= this.load(this, this.place)
    this.values[at] = value
    this.changed = true
  }
}
