import type { RequestState } from './request-state.ts'

/** A queue with two ends in a ring: preempted requests go back to the front. */
export class RequestQueue {
  size = 0
  private ring: Array<RequestState | null> = Array.from({ length: 16 }, () => null)
  private first = 0

  /** The request at `index` from the front. */
  at(index: number): RequestState {
    return this.ring[(this.first + index) & (this.ring.length - 1)] as RequestState
  }

  pushBack(request: RequestState): void {
    if (this.size === this.ring.length) this.enlarge()
    this.ring[(this.first + this.size) & (this.ring.length - 1)] = request
    this.size += 1
  }

  pushFront(request: RequestState): void {
    if (this.size === this.ring.length) this.enlarge()
    this.first = (this.first - 1) & (this.ring.length - 1)
    this.ring[this.first] = request
    this.size += 1
  }

  popFront(): RequestState {
    const request = this.at(0)
    this.ring[this.first] = null
    this.first = (this.first + 1) & (this.ring.length - 1)
    this.size -= 1
    return request
  }

  /** Keeps the order; false when it was not there. */
  remove(request: RequestState): boolean {
    for (let i = 0; i < this.size; i++) {
      if (this.at(i) !== request) continue
      for (let j = i; j + 1 < this.size; j++) {
        this.ring[(this.first + j) & (this.ring.length - 1)] = this.at(j + 1)
      }
      this.size -= 1
      this.ring[(this.first + this.size) & (this.ring.length - 1)] = null
      return true
    }
    return false
  }

  /** Inserts behind every request that is eligible no later, from the back: the usual case costs nothing. */
  insertByEligible(request: RequestState): void {
    this.pushBack(request)
    for (let i = this.size - 1; i > 0; i--) {
      const before = this.at(i - 1)
      if (before.eligibleMs <= request.eligibleMs) return
      const mask = this.ring.length - 1
      this.ring[(this.first + i) & mask] = before
      this.ring[(this.first + i - 1) & mask] = request
    }
  }

  private enlarge(): void {
    const larger: Array<RequestState | null> = []
    for (let i = 0; i < this.size; i++) larger.push(this.at(i))
    for (let i = this.size; i < this.ring.length * 2; i++) larger.push(null)
    this.ring = larger
    this.first = 0
  }
}
