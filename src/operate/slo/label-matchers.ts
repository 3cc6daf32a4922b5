/** One condition on a label, as a selector has it. */
export interface Matcher {
  readonly label: string
  readonly operator: string
  readonly value: string
}

/** The matchers of a selector, or of a list of them: `status="5xx", handler=~"/v1/.*"`. */
export function parseMatchers(text: string): readonly Matcher[] {
  const pairs = [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)]
  return pairs.map(([, label = '', operator = '=', value = '']) => ({ label, operator, value }))
}

/** Whether a label's value meets a matcher; a regular expression has to match all of it, and a broken one matches nothing. */
export function accepts({ operator, value }: Matcher, candidate: string): boolean {
  if (operator === '=') return candidate === value
  if (operator === '!=') return candidate !== value
  let matches = false
  try {
    matches = new RegExp(`^(?:${value})$`).test(candidate)
  } catch {
    return false
  }
  return operator === '=~' ? matches : !matches
}

/** Whether a series has what all matchers ask for; a label that it lacks is empty, as in Prometheus. */
export function selects(matchers: readonly Matcher[], labels: Readonly<Record<string, string>>): boolean {
  return matchers.every((matcher) => accepts(matcher, labels[matcher.label] ?? ''))
}
