/** Whether a list has neither NaN nor an infinity. */
export function isFiniteList(list: ArrayLike<number>): boolean {
  // NaN and infinities minus themselves are NaN, and so is every sum with one: a single test for the whole list.
  let sum = 0
  for (let index = 0; index < list.length; index++) sum += (list[index] ?? Number.NaN) * 0
  return sum === 0
}
