import { PlimsollError } from '../../base/errors.ts'
import { mergePiece, mergeTable } from './merge-table.ts'
import { preTokenizer } from './pre-tokenizer.ts'

/** A tokenizer on this side. */
export interface Tokenizer {
  /** Tokens in the vocabulary, added ones included. */
  readonly size: number
  /** Ids of a text; with `special` those that the tokenizer puts around every text (a beginning mark). */
  encode(text: string, special?: boolean): readonly number[]
  /** How many ids. */
  count(text: string, special?: boolean): number
}

interface TokenizerJson {
  readonly added_tokens?: readonly {
    readonly id: number
    readonly content: string
    readonly lstrip?: boolean
    readonly rstrip?: boolean
    readonly single_word?: boolean
  }[]
  readonly normalizer?: Node | null
  readonly pre_tokenizer?: unknown
  readonly post_processor?: Node | null
  readonly model?: {
    readonly type?: string
    readonly vocab?: Readonly<Record<string, number>>
    readonly merges?: readonly (string | readonly [string, string])[]
    readonly ignore_merges?: boolean
    readonly byte_fallback?: boolean
  }
}

interface Node {
  readonly type?: string
  readonly normalizers?: readonly Node[]
  readonly processors?: readonly Node[]
  readonly single?: readonly { readonly SpecialToken?: { readonly id: string } }[]
  readonly special_tokens?: Readonly<Record<string, { readonly ids: readonly number[] }>>
}

/**
 * Reads a `tokenizer.json` with a byte-level BPE (GPT-2, Llama 3, Qwen, DeepSeek, gpt-oss and their like).
 * @throws PlimsollError PLIM_FILE for another kind (SentencePiece, WordPiece, Unigram) or a broken file.
 */
export function readTokenizerJson(text: string, path: string): Tokenizer {
  const json = parse(text, path)
  const { model } = json
  if (
    model?.type !== 'BPE' ||
    model.byte_fallback === true ||
    model.vocab === undefined ||
    model.merges === undefined
  ) {
    throw unread(
      path,
      'this vocabulary is not read yet',
      model?.byte_fallback === true ? 'SentencePiece (byte fallback)' : (model?.type ?? 'no model'),
    )
  }
  const { vocab } = model
  const byText = new Map<string, number>()
  for (const token in vocab) {
    const bytes = tokenBytes(token)
    if (bytes !== null) byText.set(bytes, vocab[token]!)
  }
  const byteIds = Int32Array.from({ length: 256 }, (_, byte) => byText.get(String.fromCharCode(byte)) ?? -1)
  if (byteIds.includes(-1))
    throw unread(path, 'this vocabulary is not byte-level', `no token for byte ${byteIds.indexOf(-1)}`)
  const table = mergeTable(mergeIds(vocab, model.merges))
  const normalize = normalizer(json.normalizer ?? null, path)
  const pieces = preTokenizer(json.pre_tokenizer ?? null, path)
  const added = addedTokens(json, path)
  const around = specialAround(json.post_processor ?? null)
  const wholeFirst = model.ignore_merges === true

  const known = new Map<string, Int32Array>()
  const pieceIds = (piece: string): Int32Array => {
    const before = known.get(piece)
    if (before !== undefined) return before
    const bytes = Buffer.from(piece, 'utf8')
    const whole = wholeFirst ? byText.get(bytes.toString('latin1')) : undefined
    const ids =
      whole === undefined
        ? mergePiece(
            Int32Array.from(bytes, (byte) => byteIds[byte]!),
            table,
          )
        : Int32Array.of(whole)
    if (piece.length <= 32) {
      if (known.size >= mostKnown) known.clear()
      known.set(piece, ids)
    }
    return ids
  }
  const each = (text: string, take: (ids: ArrayLike<number>) => void): void => {
    for (const [index, part] of (added === null ? [text] : text.split(added.pattern)).entries()) {
      // A split by a group alternates: text, added token, text, …
      if (index % 2 === 1) take([added!.ids.get(part)!])
      else for (const piece of pieces(normalize(part))) take(pieceIds(piece))
    }
  }
  return {
    size: byText.size + (added?.ids.size ?? 0),
    encode(text, special = false) {
      const all: number[] = special ? [...around.before] : []
      each(text, (ids) => {
        for (let i = 0; i < ids.length; i++) all.push(ids[i]!)
      })
      return special ? [...all, ...around.after] : all
    },
    count(text, special = false) {
      let count = special ? around.before.length + around.after.length : 0
      each(text, (ids) => void (count += ids.length))
      return count
    },
  }
}

function mergeIds(
  vocab: Readonly<Record<string, number>>,
  merges: readonly (string | readonly [string, string])[],
): readonly (readonly [number, number, number])[] {
  const ids = new Map(Object.entries(vocab))
  const found: (readonly [number, number, number])[] = []
  for (const merge of merges) {
    const blank = typeof merge === 'string' ? merge.indexOf(' ') : 0
    const left = typeof merge === 'string' ? merge.slice(0, blank) : merge[0]
    const right = typeof merge === 'string' ? merge.slice(blank + 1) : merge[1]
    const [l, r, into] = [ids.get(left), ids.get(right), ids.get(left + right)]
    if (l !== undefined && r !== undefined && into !== undefined) found.push([l, r, into])
  }
  return found
}

/** Pieces whose ids are kept: some tens of MB. */
const mostKnown = 200_000

function parse(text: string, path: string): TokenizerJson {
  try {
    const json = JSON.parse(text) as TokenizerJson | null
    if (typeof json === 'object' && json !== null) return json
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', 'the tokenizer is not JSON', {
      expected: 'a tokenizer.json',
      received: text.slice(0, 40),
      where: { file: path },
      cause,
    })
  }
  throw unread(path, 'the file is not a tokenizer', text.slice(0, 40))
}

/**
 * The bytes behind a token, as a text of one character a byte. GPT-2's alphabet shows printable Latin-1 as itself and the 68 other
 * bytes, in order, as U+0100 and on. Null for a token outside it.
 */
function tokenBytes(token: string): string | null {
  if (token.length > scratch.length) return null
  for (let i = 0; i < token.length; i++) {
    const byte = byteOf[token.charCodeAt(i)] ?? -1
    if (byte < 0) return null
    scratch[i] = byte
  }
  return scratch.toString('latin1', 0, token.length)
}

const scratch = Buffer.alloc(4096)
const byteOf: Int16Array = byteAlphabet()

function byteAlphabet(): Int16Array {
  const alphabet = new Int16Array(0x100 + 68).fill(-1)
  let next = 0x100
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    alphabet[printable ? byte : next++] = byte
  }
  return alphabet
}

function normalizer(node: Node | null, path: string): (text: string) => string {
  if (node === null) return (text) => text
  switch (node.type) {
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = node.type
      return (text) => text.normalize(form)
    }
    case 'Sequence': {
      const steps = (node.normalizers ?? []).map((step) => normalizer(step, path))
      return (text) => steps.reduce((done, step) => step(done), text)
    }
    default:
      throw unread(path, 'this tokenizer changes text in a way that is not read yet', node.type ?? 'unnamed')
  }
}

/** Marks that are tokens wherever they stand in a text, the longest first. */
function addedTokens(
  { added_tokens: tokens = [] }: TokenizerJson,
  path: string,
): { readonly pattern: RegExp; readonly ids: ReadonlyMap<string, number> } | null {
  const odd = tokens.find(
    ({ lstrip, rstrip, single_word }) => lstrip === true || rstrip === true || single_word === true,
  )
  if (odd !== undefined)
    throw unread(path, 'an added token takes in the blanks around it, which is not read yet', odd.content)
  const contents = tokens.map(({ content }) => content).filter((content) => content !== '')
  if (contents.length === 0) return null
  const longestFirst = contents.toSorted((a, b) => b.length - a.length)
  const pattern = longestFirst.map((content) => content.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|')
  return { pattern: new RegExp(`(${pattern})`), ids: new Map(tokens.map(({ content, id }) => [content, id])) }
}

function specialAround(node: Node | null): {
  readonly before: readonly number[]
  readonly after: readonly number[]
} {
  const [before, after]: [number[], number[]] = [[], []]
  const nodes = node?.type === 'Sequence' ? (node.processors ?? []) : node === null ? [] : [node]
  for (const { type, single = [], special_tokens: special = {} } of nodes) {
    if (type !== 'TemplateProcessing') continue
    let into = before
    for (const { SpecialToken } of single) {
      if (SpecialToken === undefined) into = after
      else into.push(...(special[SpecialToken.id]?.ids ?? []))
    }
  }
  return { before, after }
}

function unread(path: string, message: string, received: string): PlimsollError {
  return new PlimsollError('PLIM_FILE', message, {
    expected: 'the tokenizer.json of a byte-level BPE, as of Llama 3 or Qwen',
    received,
    where: { file: path },
    hint: 'without --tokenizer the server counts: /tokenize, or its usage',
  })
}
