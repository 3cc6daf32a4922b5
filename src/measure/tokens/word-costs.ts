import type { Random } from '../../base/random.ts'

/**
 * What the words of random prompts cost on one server. The prompt `Text w₁ … wₙ` is counted by it as `leadTokens` + Σ cost(wᵢ),
 * the lead holding all that is not a word: "Text", a beginning mark, the chat template.
 */
export interface WordCosts {
  readonly words: readonly string[]
  /** Tokens of each word with the blank before it; one number where it is the same for all (then it may be a fraction). */
  readonly costs: number | readonly number[]
  readonly leadTokens: number
}

export interface ComposedText {
  /** The words with a blank before each. */
  readonly text: string
  /** What they cost, by `costs`. */
  readonly tokens: number
}

/**
 * Words that cost `tokens` in all: exactly where every cost is 1, and where the costs allow; else as near as one can get from
 * below (or, where one cost is a fraction, the nearest whole number of words). Fewer than the cheapest word gives none.
 */
export function composeWords(costs: WordCosts, tokens: number, random: Random): ComposedText {
  return typeof costs.costs === 'number'
    ? alikeWords(costs.words, costs.costs, tokens, random)
    : mixedWords(costs.words, costs.costs, tokens, random)
}

export function minimumCost(costs: WordCosts): number {
  return typeof costs.costs === 'number' ? costs.costs : Math.min(...costs.costs)
}

function alikeWords(words: readonly string[], cost: number, tokens: number, random: Random): ComposedText {
  const count = Math.max(0, Math.round(tokens / cost))
  const kinds = words.length
  let text = ''
  // 16 bits choose a word: two words a draw. The bias of the multiplication is under kinds ÷ 65,536.
  for (let i = 0; i < count; i += 2) {
    const bits = random.nextUint32()
    text += ` ${words[((bits >>> 16) * kinds) >>> 16]}`
    if (i + 1 < count) text += ` ${words[((bits & 0xffff) * kinds) >>> 16]}`
  }
  return { text, tokens: count * cost }
}

function mixedWords(
  words: readonly string[],
  costs: readonly number[],
  tokens: number,
  random: Random,
): ComposedText {
  const dearest = Math.max(...costs)
  const sums = reachableSums(costs, dearest * 2)
  const all = costs.map((_, index) => index)
  let text = ''
  let spent = 0
  for (let left = Math.floor(tokens); left > 0;) {
    // Near the end only through sums that can be finished, from the largest that fits.
    const near = left <= dearest * 2
    const goal = near ? sums.lastIndexOf(true, left) : left
    if (goal <= 0) break
    const fitting = near ? all.filter((index) => sums[goal - (costs[index] as number)] === true) : all
    const index = fitting[Math.floor(random.next() * fitting.length)] as number
    text += ` ${words[index]}`
    spent += costs[index] as number
    left = goal - (costs[index] as number)
  }
  return { text, tokens: spent }
}

/** Which sums of costs there are, 0 … highest. */
function reachableSums(costs: readonly number[], highest: number): readonly boolean[] {
  const distinct = [...new Set(costs)]
  const sums = [true]
  for (let sum = 1; sum <= highest; sum++) {
    sums[sum] = distinct.some((cost) => cost <= sum && sums[sum - cost] === true)
  }
  return sums
}

/** The largest class of words of one cost: a salt made of them costs the same whatever it says. */
export function sameCostWords(costs: WordCosts): {
  readonly words: readonly string[]
  readonly cost: number
} {
  if (typeof costs.costs === 'number') return { words: costs.words, cost: costs.costs }
  const classes = new Map<number, string[]>()
  costs.costs.forEach((cost, index) => {
    const members = classes.get(cost) ?? []
    members.push(costs.words[index] as string)
    classes.set(cost, members)
  })
  let best: { words: readonly string[]; cost: number } = { words: [], cost: 0 }
  for (const [cost, members] of classes)
    if (members.length > best.words.length) best = { words: members, cost }
  return best
}
