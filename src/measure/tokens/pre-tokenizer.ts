import { PlimsollError } from '../../base/errors.ts'

/** Cuts a text into the pieces within which a vocabulary merges. */
export type PreTokenizer = (text: string) => readonly string[]

/** GPT-2's own pattern, which `ByteLevel` uses unless told not to. */
const gpt2Pattern = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

interface Node {
  readonly type?: string
  readonly pretokenizers?: readonly Node[]
  readonly pattern?: { readonly Regex?: string; readonly String?: string }
  readonly behavior?: string
  readonly invert?: boolean
  readonly use_regex?: boolean
  readonly add_prefix_space?: boolean
  readonly individual_digits?: boolean
}

/**
 * The `pre_tokenizer` of a tokenizer.json: sequences of `Split` (isolated), `Digits` and `ByteLevel`.
 * @throws PlimsollError PLIM_FILE for any other.
 */
export function preTokenizer(node: unknown, path: string): PreTokenizer {
  const steps = flatten(node as Node | null).flatMap((step) => stepOf(step, path))
  const [only] = steps
  if (steps.length === 1 && only !== undefined) return only
  return (text) =>
    steps.reduce<readonly string[]>((pieces, step) => pieces.flatMap(step), text === '' ? [] : [text])
}

function flatten(node: Node | null): readonly Node[] {
  if (node === null) return []
  return node.type === 'Sequence' ? (node.pretokenizers ?? []).flatMap(flatten) : [node]
}

function stepOf(node: Node, path: string): readonly PreTokenizer[] {
  switch (node.type) {
    case 'Split':
      if (node.behavior !== 'Isolated' || node.invert === true) break
      if (node.pattern?.Regex !== undefined) return [isolate(toJsPattern(node.pattern.Regex), path)]
      if (node.pattern?.String !== undefined)
        return [isolate(node.pattern.String.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'), path)]
      break
    case 'Digits':
      return [isolate(node.individual_digits === true ? String.raw`\p{Nd}` : String.raw`\p{Nd}+`, path)]
    case 'ByteLevel': {
      const steps: PreTokenizer[] = []
      if (node.add_prefix_space === true) steps.push((text) => [/^\s/.test(text) ? text : ` ${text}`])
      if (node.use_regex !== false) steps.push(isolate(toJsPattern(gpt2Pattern), path))
      return steps
    }
    default:
  }
  throw new PlimsollError(
    'PLIM_FILE',
    `this tokenizer cuts text in a way that is not read yet: ${node.type ?? 'unnamed'}`,
    {
      expected: 'a byte-level vocabulary: Split (isolated), Digits, ByteLevel',
      received: JSON.stringify(node).slice(0, 120),
      where: { file: path },
    },
  )
}

/** Every match is a piece, and so is what stands between two. */
function isolate(pattern: string, path: string): PreTokenizer {
  let expression: RegExp
  try {
    expression = new RegExp(pattern, 'gu')
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', 'a pattern of the tokenizer is not understood', {
      expected: 'a regular expression',
      received: pattern,
      where: { file: path },
      cause,
    })
  }
  return (text) => {
    // Most patterns match all of every text, and `match` makes no objects but the pieces.
    const matches: readonly string[] = text.match(expression) ?? []
    let matched = 0
    for (const piece of matches) matched += piece.length
    return matched === text.length && !matches.includes('') ? matches : withBetween(text, expression)
  }
}

/** The matches, and what stands between them. */
function withBetween(text: string, expression: RegExp): readonly string[] {
  const pieces: string[] = []
  let end = 0
  for (const { 0: match, index } of text.matchAll(expression)) {
    if (match === '') continue
    if (index > end) pieces.push(text.slice(end, index))
    pieces.push(match)
    end = index + match.length
  }
  if (end < text.length) pieces.push(text.slice(end))
  return pieces
}

/**
 * A pattern of Oniguruma's as JavaScript's, in what tokenizers use of it: white space is Unicode's (JavaScript's `\s` has U+FEFF
 * and lacks U+0085), `(?i:…)` is spelt out (Node 20 has no modifiers; folding gives s its ſ and k its K), possessive quantifiers
 * become greedy, and punctuation needs no backslash.
 */
export function toJsPattern(pattern: string): string {
  const insensitive = pattern.replace(
    /\(\?i:([^()]*)\)/g,
    (_, inner: string) => `(?:${inner.replace(/[a-z]/gi, anyCase)})`,
  )
  return insensitive
    .replace(/\\([\s\S])/g, (escaped, character: string) => {
      if (character === 's') return String.raw`\p{White_Space}`
      if (character === 'S') return String.raw`\P{White_Space}`
      if (character === 'h') return '[0-9a-fA-F]'
      return /[\p{L}\p{N}$()*+./?[\\\]^{|}-]/u.test(character) ? escaped : character
    })
    .replace(/([^\\][*+?]|\{\d+(?:,\d*)?\})\+/g, '$1')
}

function anyCase(letter: string): string {
  const both = letter.toLowerCase() + letter.toUpperCase()
  return `[${both}${both === 'sS' ? 'ſ' : both === 'kK' ? '\u212A' : ''}]`
}
