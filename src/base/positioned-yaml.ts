import {
  type Alias,
  type Document,
  isMap,
  isPair,
  LineCounter,
  type Node,
  parseAllDocuments,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import { type ErrorCode, PlimsollError, type TextPosition } from './errors.ts'

/** A path into a text: keys and indices. */
export type YamlPath = readonly (string | number)[]

/** A document of a YAML text, and where each part of it stands. */
export interface PositionedYaml {
  /** Null only among several documents: nothing between two lines of `---`. */
  readonly value: unknown
  /** Where the value of a path begins, or its key; the nearest enclosing one where there is none. */
  readonly where: (path: YamlPath, of?: 'key' | 'value') => TextPosition
  /** Whether the path is there itself. */
  readonly has: (path: YamlPath) => boolean
}

/** What a document is about, for whoever gives one that says nothing. */
export interface YamlSubject {
  /** "settings" */
  readonly what: string
  readonly expected: string
  readonly hint: string
}

/**
 * @throws PlimsollError PLIM_CONFIG with file, line and column for what is not one YAML document, and for one of nothing but comments:
 * who names a file means what should be in it, and a redirect that failed leaves an empty one.
 */
export function readYaml(text: string, file: string, subject: YamlSubject): PositionedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const yaml = positioned(document, { text, file, lines, code: 'PLIM_CONFIG', what: 'this is not YAML' })
  if (yaml.value !== null) return yaml
  const { what, expected, hint } = subject
  throw new PlimsollError('PLIM_CONFIG', `the file holds no ${what}`, {
    expected,
    received: nothing(text),
    where: { file },
    hint,
  })
}

function nothing(text: string): string {
  if (text.trim() === '') return 'an empty file'
  return /^\s*[^#\s-].*/m.exec(text)?.[0].trim() ?? 'nothing beside comments'
}

/** The documents of a text, between lines of `---`. */
export function readYamlDocuments(text: string, file: string): readonly PositionedYaml[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  if (!Array.isArray(documents)) return []
  return documents.map((document) =>
    positioned(document, { text, file, lines, code: 'PLIM_CONFIG', what: 'this is not YAML' }),
  )
}

/** What a text is read from, and how its faults are told. */
export interface YamlSource {
  readonly text: string
  readonly file: string
  readonly lines: LineCounter
  readonly code: ErrorCode
  /** The sentence of a text that cannot be read. */
  readonly what: string
}

function positioned(document: Document, source: YamlSource): PositionedYaml {
  const [broken] = document.errors
  if (broken !== undefined) throw brokenYaml(broken, source)
  const where = (path: YamlPath, of: 'key' | 'value' = 'value'): TextPosition => {
    const offset = offsetOf(document, path, of)
    return offset === null ? { file: source.file } : yamlPosition(source, offset)
  }
  return { value: valueOf(document, source) ?? null, where, has: (path) => document.hasIn(path) }
}

/** An alias of no anchor, or of too many, is only found where the values are made. */
function valueOf(document: Document, source: YamlSource): unknown {
  try {
    return document.toJS()
  } catch (error) {
    let lost = null as Alias | null
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) !== undefined) return undefined
        lost = alias
        return visit.BREAK
      },
    })
    if (lost === null) throw refusal(quoted, 0, source, error)
    throw noAnchor(lost, source, error)
  }
}

function noAnchor(alias: Alias, source: YamlSource, cause: unknown): PlimsollError {
  return new PlimsollError(source.code, `the anchor ${alias.source} is not defined`, {
    expected: `&${alias.source} before a value above this place`,
    received: `*${alias.source}`,
    where: yamlPosition(source, alias.range?.[0] ?? 0),
    hint: 'a text that begins with * is written in quotes',
    cause,
  })
}

export function yamlPosition(
  { file, lines }: Pick<YamlSource, 'file' | 'lines'>,
  offset: number,
): TextPosition {
  const { line, col } = lines.linePos(offset)
  return { file, line, column: col }
}

/** What is wrong with a text that is not YAML, in our words: what would be right there, the line, and the place. */
export function brokenYaml(error: YAMLError, source: YamlSource): PlimsollError {
  // A bracket that stays open is found where a line is not indented as what is in it would be.
  const open = error.code === 'BAD_INDENT' && error.message.startsWith('Flow ')
  return refusal(open ? closed : (advice[error.code] ?? adviceElse), error.pos[0], source, error)
}

function refusal(said: Advice, offset: number, source: YamlSource, cause: unknown): PlimsollError {
  const where = yamlPosition(source, offset)
  const line = source.text.split(/\r\n|[\r\n]/)[(where.line ?? 1) - 1]?.trim() ?? ''
  const atEnd = source.text.slice(offset).trim() === ''
  const [expected, hint] = atEnd ? closed : said
  const received = atEnd ? 'the end of the text' : line
  return new PlimsollError(source.code, source.what, { expected, received, where, hint, cause })
}

type Advice = readonly [expected: string, hint: string]

const adviceElse: Advice = [
  'lines of "key: value", lists of "- item"',
  'put quotes around a text that holds marks of YAML: : # { } [ ] , & * ! | > @ `',
]
const oneKeyALine: Advice = [
  'one "key: value" a line',
  'write a map in one line as { key: value }, and put quotes around a text that holds ": "',
]
const aligned: Advice = [
  'the keys of one map, and the items of one list, beginning in one column',
  'indent with spaces, deeper than the key above',
]
const closed: Advice = [
  'every quote, bracket and brace closed, and ": " behind a key',
  'look for what is still open before this place',
]
const quoted: Advice = [
  'a value',
  'put quotes around a text that begins with a mark of YAML: & * ! @ ` % | >',
]

const advice: Readonly<Partial<Record<string, Advice>>> = {
  BLOCK_AS_IMPLICIT_KEY: oneKeyALine,
  MULTILINE_IMPLICIT_KEY: oneKeyALine,
  BLOCK_IN_FLOW: oneKeyALine,
  BAD_INDENT: aligned,
  BAD_COLLECTION_TYPE: aligned,
  TAB_AS_INDENT: ['spaces at the beginning of a line', 'replace the tab by spaces'],
  MISSING_CHAR: closed,
  DUPLICATE_KEY: ['each key once in its map', 'take one of the two out'],
  BAD_ALIAS: quoted,
  ALIAS_PROPS: quoted,
  BAD_SCALAR_START: quoted,
  MULTIPLE_ANCHORS: quoted,
  MULTIPLE_TAGS: quoted,
  TAG_RESOLVE_FAILED: quoted,
  BAD_DQ_ESCAPE: ['a text in quotes', 'write a backslash twice, or use single quotes'],
  MULTIPLE_DOCS: ['one document', 'take the line --- and what follows it into a file of its own'],
}

function offsetOf(document: Document, path: YamlPath, of: 'key' | 'value'): number | null {
  for (let length = path.length; length >= 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    if (length > 0 && of === 'key' && isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(path[length - 1]))
      const start = (pair?.key as Node | undefined)?.range?.[0]
      if (start !== undefined) return start
    }
    const node =
      length === 0 ? document.contents : (document.getIn(path.slice(0, length), true) as Node | undefined)
    const start = node?.range?.[0]
    if (start !== undefined) return start
  }
  return null
}
