/**
 * Numbers by their place, which are set one after the other and may then be changed. A piece of 64 k of them in which all are the
 * same takes the memory of one.
 */
export interface NumberCells {
  get(index: number): number
  set(index: number, value: number): void
}

/** Made of the array that holds a piece; a place of a piece in which none was set has `absent`. */
export function numberCells(
  absent: number,
  make: (length: number) => Float64Array | Uint32Array = (length) => new Float64Array(length),
): NumberCells {
  const pieces: (Float64Array | Uint32Array | number | undefined)[] = []
  return {
    get(index) {
      const piece = pieces[index >>> 16]
      return typeof piece === 'object' ? (piece[index & 0xffff] as number) : (piece ?? absent)
    },
    set(index, value) {
      const at = index >>> 16
      let piece = pieces[at]
      if (typeof piece !== 'object') {
        if (piece === undefined && (index & 0xffff) === 0) piece = pieces[at] = value
        const same = piece ?? absent
        if (Object.is(same, value)) return
        piece = pieces[at] = make(0x10000).fill(same)
      }
      piece[index & 0xffff] = value
    },
  }
}
