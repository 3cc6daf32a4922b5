// A model of the Llama architecture with made-up weights: real compute, meaningless text. A few million numbers from a seed, and a
// vocabulary small enough to read. Both engines load it, each from its own file format.

/** Some 3.7 million numbers: a token takes about half a millisecond on one core. */
export const shape = {
  hidden: 256,
  layers: 4,
  heads: 4,
  keyValueHeads: 2,
  feedForward: 768,
  context: 4096,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
}

/**
 * Byte-level vocabulary: the 256 bytes in their printable spelling, then every prefix of ` word` for the given words, made by one
 * merge each (the shorter prefix, then one letter), then three marks. Merges always grow from the blank, so ranks cannot conflict and
 * each known word is one token. Returns `{tokens, merges, marks: {begin, end}}`.
 */
export function makeVocabulary(words) {
  const tokens = [...byteSpelling]
  const merges = []
  const known = new Set(tokens)
  for (const word of words) {
    let prefix = blank
    for (const letter of word) {
      const longer = prefix + letter
      if (!known.has(longer)) {
        known.add(longer)
        tokens.push(longer)
        merges.push([prefix, letter])
      }
      prefix = longer
    }
  }
  const marks = { begin: tokens.length, end: tokens.length + 1, turn: tokens.length + 2 }
  tokens.push('<begin>', '<end>', '<turn>')
  return { tokens, merges, marks }
}

/** How a chat is written down: marks and line ends around each turn (ChatML's shape). */
export const chatTemplate =
  "{% for message in messages %}{{ '<turn>' + message['role'] + '\n' + message['content'] + '<end>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<turn>assistant\n' }}{% endif %}"

/**
 * Tokens that are never generated: the marks, bytes that do not print, and parts of letters beyond ASCII. llama-server ends an answer
 * that is not UTF-8 in an error, and engines hold such bytes back until a letter is whole.
 */
function neverSaid({ tokens, marks }) {
  const printable = (byte) => byte >= 32 && byte < 127
  return tokens.map((_, id) => id >= marks.begin || (id < 256 && !printable(id)))
}

/**
 * The tensors, by their Hugging Face names, each `{name, rows, columns, values}` (row-major float32; a vector has `rows` 1).
 * Coordinate 0 is the same for every token and no layer writes to it, so that the head can use it as a bias.
 */
export function* makeTensors(vocabulary, seed = 1) {
  const unsaid = neverSaid(vocabulary)
  const vocabularySize = unsaid.length
  const random = randomNormals(seed)
  const { hidden, layers, heads, keyValueHeads, feedForward } = shape
  const narrow = (hidden / heads) * keyValueHeads
  const matrix = (name, rows, columns, scale = 1) => ({
    name,
    rows,
    columns,
    values: Float32Array.from({ length: rows * columns }, () => (random() * scale) / Math.sqrt(columns)),
  })
  const ones = (name) => ({ name, rows: 1, columns: hidden, values: new Float32Array(hidden).fill(1) })
  const embeddings = matrix('model.embed_tokens.weight', vocabularySize, hidden, Math.sqrt(hidden))
  for (let token = 0; token < vocabularySize; token++) embeddings.values[token * hidden] = 4
  yield embeddings
  for (let layer = 0; layer < layers; layer++) {
    const at = (part) => `model.layers.${layer}.${part}.weight`
    yield ones(at('input_layernorm'))
    yield matrix(at('self_attn.q_proj'), hidden, hidden)
    yield matrix(at('self_attn.k_proj'), narrow, hidden)
    yield matrix(at('self_attn.v_proj'), narrow, hidden)
    yield withoutFirstRow(matrix(at('self_attn.o_proj'), hidden, hidden, 0.3))
    yield ones(at('post_attention_layernorm'))
    yield matrix(at('mlp.gate_proj'), feedForward, hidden)
    yield matrix(at('mlp.up_proj'), feedForward, hidden)
    yield withoutFirstRow(matrix(at('mlp.down_proj'), hidden, feedForward, 0.3))
  }
  yield ones('model.norm.weight')
  const head = matrix('lm_head.weight', vocabularySize, hidden, 2)
  for (let token = 0; token < vocabularySize; token++) head.values[token * hidden] = unsaid[token] ? -6 : 0
  yield head
}

function withoutFirstRow(tensor) {
  tensor.values.fill(0, 0, tensor.columns)
  return tensor
}

/** Normal numbers by Box and Muller from a 32-bit xorshift generator. */
function randomNormals(seed) {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  const uniform = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return ((state >>> 0) + 0.5) / 4_294_967_296
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** Byte-level BPE spells bytes that do not print as letters from U+0100 on, in order (GPT-2's convention). */
const byteSpelling = (() => {
  const prints = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let spare = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(prints(byte) ? byte : spare++))
})()

const blank = byteSpelling[32]
