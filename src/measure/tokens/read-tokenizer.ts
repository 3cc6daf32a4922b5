import type sentencePiece from '@agnai/sentencepiece-js'
import type { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { PlimsollError } from '../../base/errors.ts'
import { readTokenizerJson, type Tokenizer } from './tokenizer-json.ts'

/** The optional packages, imported when a file asks for one of them. */
export interface TokenizerPackages {
  readonly huggingFace: () => Promise<{ readonly Tokenizer: typeof HuggingFaceTokenizer }>
  readonly sentencePiece: () => Promise<{ readonly default: typeof sentencePiece }>
}

const installed: TokenizerPackages = {
  huggingFace: () => import('@huggingface/tokenizers'),
  sentencePiece: () => import('@agnai/sentencepiece-js'),
}

/**
 * Reads a vocabulary of any kind: a byte-level BPE of a tokenizer.json by plimsoll's own reader, any other tokenizer.json (Unigram, BPE with
 * byte fallback, WordPiece) by `@huggingface/tokenizers`, a SentencePiece `tokenizer.model` by `@agnai/sentencepiece-js`. `text` is the file's,
 * read as UTF-8; SentencePiece reads its file itself.
 * @throws PlimsollError PLIM_FILE for a file that is none of these, and for a package that is not installed.
 */
export async function readTokenizer(
  text: string,
  path: string,
  packages: TokenizerPackages = installed,
): Promise<PlainTokenizer> {
  if (isSentencePiece(text)) return await bySentencePiece(path, packages)
  if (/^[A-Za-z0-9+/]+=* \d+\n/.test(text)) {
    throw new PlimsollError(
      'PLIM_FILE',
      'a vocabulary in tiktoken’s form, without the pattern that cuts texts',
      {
        expected: 'the tokenizer.json that stands beside it',
        received: text.slice(0, 40).split('\n', 1)[0] ?? '',
        where: { file: path },
      },
    )
  }
  try {
    return readTokenizerJson(text, path)
  } catch (error) {
    const json = objectOf(text)
    if (!(error instanceof PlimsollError) || json === null) throw error
    return await byHuggingFace(json, path, packages, error)
  }
}

/** What every kind has. */
export type PlainTokenizer = Pick<Tokenizer, 'count' | 'encode'>

/** A protobuf whose first field is the piece `<unk>`, as SentencePiece's trainer writes it (`sentencepiece_model.proto`). */
function isSentencePiece(text: string): boolean {
  return /^\n[\s\S]{1,4}\n[\s\S](?:<unk>|<pad>|<s>)/.test(text)
}

async function bySentencePiece(path: string, packages: TokenizerPackages): Promise<PlainTokenizer> {
  const { default: library } = await loaded(packages.sentencePiece, sentencePieceName, path, null)
  const processor = new library.SentencePieceProcessor()
  await processor.load(path)
  // The library does not say whether it could read the file: one that could not finds no piece in any text.
  if (processor.encodeIds('a').length === 0) {
    throw new PlimsollError('PLIM_FILE', 'the SentencePiece model cannot be read', {
      expected: 'a tokenizer.model as SentencePiece’s trainer writes it',
      where: { file: path },
    })
  }
  return {
    encode: (text) => processor.encodeIds(text),
    count: (text) => processor.encodeIds(text).length,
  }
}

async function byHuggingFace(
  json: object,
  path: string,
  packages: TokenizerPackages,
  own: PlimsollError,
): Promise<PlainTokenizer> {
  // The package leaves bytes away where a Unigram has them for what it does not know: its counts would be too low.
  const { model } = json as { readonly model?: { readonly type?: unknown; readonly byte_fallback?: unknown } }
  if (model?.type === 'Unigram' && model.byte_fallback === true) {
    throw new PlimsollError('PLIM_FILE', 'a Unigram with byte fallback is not read from JSON', {
      expected: 'the tokenizer.model that stands beside it',
      received: 'a tokenizer.json of type Unigram with byte_fallback',
      where: { file: path },
    })
  }
  const library = await loaded(packages.huggingFace, huggingFaceName, path, own)
  try {
    const tokenizer = new library.Tokenizer(json, {})
    const encode: Tokenizer['encode'] = (text, special = false) =>
      tokenizer.encode(text, { add_special_tokens: special }).ids
    // A vocabulary that reads nothing is refused here, not in the middle of a run.
    encode('a')
    return { encode, count: (text, special) => encode(text, special).length }
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', 'the tokenizer cannot be read', {
      expected: 'a tokenizer.json of Hugging Face’s tokenizers',
      received: cause instanceof Error ? cause.message : String(cause),
      where: { file: path },
      cause,
    })
  }
}

const huggingFaceName = '@huggingface/tokenizers'
const sentencePieceName = '@agnai/sentencepiece-js'

async function loaded<T>(
  load: () => Promise<T>,
  name: string,
  path: string,
  own: PlimsollError | null,
): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new PlimsollError('PLIM_FILE', `reading this vocabulary needs the package ${name}`, {
      expected: `${name}, installed where plimsoll is`,
      ...(own?.received === undefined ? {} : { received: own.received }),
      where: { file: path },
      hint: `npm install ${name}; without --tokenizer the server counts`,
      cause,
    })
  }
}

function objectOf(text: string): object | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : null
  } catch {
    return null
  }
}
