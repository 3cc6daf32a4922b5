/** When each of a set of numbered things wants to be called next; the earliest first, of equal ones the lowest number. */
export class WakeQueue {
  private times = new Float64Array(8)
  private heap = new Int32Array(8)
  private places = new Int32Array(8)
  private size = 0

  /** The next number, with nothing to wait for. */
  add(): number {
    const index = this.size++
    if (index === this.times.length) this.enlarge()
    this.times[index] = Number.POSITIVE_INFINITY
    this.heap[index] = index
    this.places[index] = index
    return index
  }

  /** Infinite when nobody waits. */
  firstMs(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.times[this.heap[0] as number] as number)
  }

  first(): number {
    return this.heap[0] as number
  }

  set(index: number, timeMs: number): void {
    const before = this.times[index] as number
    if (before === timeMs) return
    this.times[index] = timeMs
    let place = this.places[index] as number
    if (timeMs < before) {
      while (place > 0) {
        const above = (place - 1) >> 1
        const other = this.heap[above] as number
        if (!this.isBefore(index, other)) break
        this.put(other, place)
        place = above
      }
    } else {
      for (;;) {
        let below = 2 * place + 1
        if (below >= this.size) break
        if (
          below + 1 < this.size &&
          this.isBefore(this.heap[below + 1] as number, this.heap[below] as number)
        ) {
          below += 1
        }
        const other = this.heap[below] as number
        if (!this.isBefore(other, index)) break
        this.put(other, place)
        place = below
      }
    }
    this.put(index, place)
  }

  private isBefore(a: number, b: number): boolean {
    const first = this.times[a] as number
    const second = this.times[b] as number
    return first < second || (first === second && a < b)
  }

  private put(index: number, place: number): void {
    this.heap[place] = index
    this.places[index] = place
  }

  private enlarge(): void {
    const length = this.times.length * 2
    const times = new Float64Array(length)
    const heap = new Int32Array(length)
    const places = new Int32Array(length)
    times.set(this.times)
    heap.set(this.heap)
    places.set(this.places)
    this.times = times
    this.heap = heap
    this.places = places
  }
}

/** Things to do at a time, earliest first, of equal times in the order in which they were put in. */
export class Agenda<T> {
  private readonly entries: Array<{ readonly atMs: number; readonly order: number; readonly what: T }> = []
  private orders = 0

  get size(): number {
    return this.entries.length
  }

  firstMs(): number {
    return this.entries[0]?.atMs ?? Number.POSITIVE_INFINITY
  }

  add(atMs: number, what: T): void {
    const { entries } = this
    const entry = { atMs, order: this.orders++, what }
    let at = entries.length
    entries.push(entry)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(entry, entries[above] as typeof entry)) break
      entries[at] = entries[above] as typeof entry
      at = above
    }
    entries[at] = entry
  }

  take(): T {
    const { entries } = this
    const [first] = entries
    const last = entries.pop()
    if (first === undefined || last === undefined) throw new RangeError('nothing is on the agenda')
    if (entries.length > 0) {
      let at = 0
      for (;;) {
        let below = 2 * at + 1
        if (below >= entries.length) break
        const next = entries[below + 1]
        if (next !== undefined && isBefore(next, entries[below] as typeof last)) below += 1
        if (!isBefore(entries[below] as typeof last, last)) break
        entries[at] = entries[below] as typeof last
        at = below
      }
      entries[at] = last
    }
    return first.what
  }
}

function isBefore(
  a: { readonly atMs: number; readonly order: number },
  b: { readonly atMs: number; readonly order: number },
): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
