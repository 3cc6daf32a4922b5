/** Beyond a million nobody counts. */
const most = 1 << 20

/** The smallest n from 2 to a million that is enough, null where none is; `enough` is monotone. */
export function smallestCount(enough: (n: number) => boolean): number | null {
  let high = 2
  while (!enough(high)) {
    if (high >= most) return null
    high *= 2
  }
  let low = Math.max(1, high / 2)
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}
