// Reads the series that the entries describe in words, such as
//   x_i=100+60*exp(-i/15)+e_i, e_i=((i*7919)%101-50)/10, i=0..299
// Numbers, + - * / %, `mod`, comparisons, exp() floor(), i, names defined beside it, and [condition] as 0 or 1.

/** The values of a described series, or null where the text is not understood. */
export function seriesOf(text) {
  try {
    const clauses = text.split(/,\s*(?=[a-z_]+\s*=|i\s*=)/)
    const range = clauses.find((clause) => /^\s*i\s*=\s*-?\d+\.\.-?\d+\s*$/.test(clause))
    if (range === undefined) return null
    const [first, last] = range.split('=')[1].split('..').map(Number)
    const named = {}
    let main = null
    for (const clause of clauses) {
      if (clause === range) continue
      const match = /^\s*([a-z]+)(?:_i)?\s*=(?!=)\s*(.*)$/.exec(clause)
      if (match !== null && match[1] !== 'x') named[match[1]] = match[2]
      else main = match === null ? clause : match[2]
    }
    if (main === null) return null
    return Array.from({ length: last - first + 1 }, (_, k) => evaluate(main, first + k, named))
  } catch {
    return null
  }
}

function evaluate(text, i, named) {
  const tokens = text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|[a-z]+(?:_i)?|==|>=|<=|[-+*/%()[\]<>]/gi) ?? []
  if (tokens.join('') !== text.replace(/\s+/g, '')) throw new Error('unknown text')
  let at = 0
  const take = (token) => {
    if (tokens[at] !== token) throw new Error(`expected ${token}`)
    at++
  }
  const compared = () => {
    const left = sum()
    const operator = tokens[at]
    const compare = {
      '==': (a, b) => a === b,
      '>=': (a, b) => a >= b,
      '<=': (a, b) => a <= b,
      '>': (a, b) => a > b,
      '<': (a, b) => a < b,
    }[operator]
    if (compare === undefined) return left
    at++
    return Number(compare(left, sum()))
  }
  const sum = () => {
    let value = product()
    while (tokens[at] === '+' || tokens[at] === '-')
      value = tokens[at++] === '+' ? value + product() : value - product()
    return value
  }
  const product = () => {
    let value = unary()
    while (['*', '/', '%', 'mod'].includes(tokens[at])) {
      const operator = tokens[at++]
      const right = unary()
      value = operator === '*' ? value * right : operator === '/' ? value / right : value % right
    }
    return value
  }
  const unary = () => {
    if (tokens[at] === '-') {
      at++
      return -unary()
    }
    const token = tokens[at++]
    if (token === '(' || token === '[') {
      const value = compared()
      take(token === '(' ? ')' : ']')
      return value
    }
    if (/^\d/.test(token)) return Number(token)
    if (token === 'i') return i
    if (token === 'exp' || token === 'floor') {
      take('(')
      const value = sum()
      take(')')
      return Math[token](value)
    }
    const name = token.replace(/_i$/, '')
    if (named[name] === undefined) throw new Error(`unknown name ${token}`)
    return evaluate(named[name], i, named)
  }
  const value = compared()
  if (at !== tokens.length) throw new Error('text left over')
  return value
}
