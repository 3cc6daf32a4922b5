/** What keeps a query from being read as PromQL, and the 0-based offset where that is seen. */
export interface SyntaxFault {
  readonly message: string
  readonly at: number
}

/** Places that a dashboard, a chart or an adapter fills in before the query is asked. */
const templates = /\$\{[^}]*\}|\{\{.*?\}\}|<<.*?>>|%\(\w+\)s|\[\[\w+\]\]|\$\w+/gs

const pieces =
  /(?<space>\s+|#[^\n]*)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<open>[([{])|(?<close>[)\]}])|(?<word>[\p{L}_:][\p{L}\p{N}_:.]*|\d[\w.]*(?:(?<=e)[+-]\d+)?|\.\d\w*)|(?<mark>=~|!~|!=|==|>=|<=|[-+*/%^,=<>@:])|(?<wrong>.)/gsu

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const binary = new Set(['*', '/', '%', '^', '==', '!=', '>=', '<=', '>', '<', '=', '=~', '!~', ',', '-', '+'])
const matcher =
  /^\s*(?:[\p{L}_][\p{L}\p{N}_.:]*|"[^"]*"|'[^']*')\s*(?:=~|!~|!=|=)\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|T+)\s*(?:,|$)/u
const quotedName = /^\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|T+)\s*(?:,|$)/u
const duration = String.raw`(?:T+|\d+(?:\.\d+)?(?:(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*)?)`
const range = new RegExp(`^\\s*${duration}\\s*(?::\\s*(?:${duration})?\\s*)?$`)

/**
 * The first thing that PromQL cannot read: a quote, bracket or brace that stays open or closes nothing, a matcher, a range or an offset
 * that is none, a mark that it does not have, an operator without its side, nothing at all. Names and types of functions are not looked at.
 */
export function syntaxFault(query: string): SyntaxFault | null {
  // A template stands for a word, or for a part of one, of whatever it will be.
  const text = query.replaceAll(templates, (found) => 'T'.repeat(found.length))
  const open: { readonly mark: string; readonly at: number }[] = []
  let last: { readonly text: string; readonly at: number } | null = null
  for (const { 0: piece, index: at, groups = {} } of text.matchAll(pieces)) {
    if (groups['space'] !== undefined) continue
    if (groups['wrong'] !== undefined) {
      const isQuote = /["'`]/.test(piece)
      return { message: isQuote ? `the quote ${piece} is not closed` : `${piece} is no mark of PromQL`, at }
    }
    if (groups['open'] !== undefined) open.push({ mark: piece, at })
    if (groups['close'] !== undefined) {
      const opened = open.pop()
      if (opened === undefined) return { message: `${piece} closes nothing`, at }
      if (closing[opened.mark] !== piece)
        return {
          message: `${piece} stands where ${closing[opened.mark]} would close the ${opened.mark} before it`,
          at,
        }
      if (piece === ')' && last !== null && binary.has(last.text) && last.text !== ',')
        return { message: `nothing stands behind ${last.text}`, at }
      const inside = text.slice(opened.at + 1, at)
      if (piece === ']' && !range.test(inside))
        return { message: `[${query.slice(opened.at + 1, at)}] is no range such as [5m]`, at: opened.at }
      const fault = piece === '}' ? matcherFault(inside, opened.at + 1) : null
      if (fault !== null) return fault
    }
    if (last?.text === 'offset' && open.length === 0 && !/^[-+(T\d]/.test(piece))
      return { message: `${piece} is no offset such as 5m`, at }
    last = { text: piece, at }
  }
  const unclosed = open.at(-1)
  if (unclosed !== undefined)
    return { message: `${unclosed.mark} is not closed by ${closing[unclosed.mark]}`, at: unclosed.at }
  if (last === null) return { message: 'nothing is asked', at: 0 }
  if (binary.has(last.text) || /^(?:and|or|unless|offset|by|without|on|ignoring)$/.test(last.text))
    return { message: `nothing stands behind ${last.text}`, at: last.at }
  const first = /^(?:\s|#[^\n]*\n)*(==|!=|>=|<=|=~|!~|[*/%^,=<>@:])/.exec(text)
  return first === null
    ? null
    : { message: `nothing stands before ${first[1]}`, at: first[0].length - first[1]!.length }
}

function matcherFault(inside: string, from: number): SyntaxFault | null {
  let rest = inside
  while (rest.trim() !== '') {
    const match = matcher.exec(rest) ?? quotedName.exec(rest)
    if (match === null) {
      const at = from + inside.length - rest.trimStart().length
      return { message: `${rest.trim().slice(0, 40)} is no matcher such as job="vllm"`, at }
    }
    rest = rest.slice(match[0].length)
  }
  return null
}

/** The place in a text of several lines, counted from 1. */
export function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}
