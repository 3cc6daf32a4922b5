// The made-up model as a GGUF file of version 3, which llama.cpp reads: header, keys, tensor table, then the tensors, each on a
// multiple of 32 bytes. Layout: ggml-org/ggml, docs/gguf.md.
import { closeSync, openSync, writeSync } from 'node:fs'
import { chatTemplate, makeTensors, shape } from './made-up-model.mjs'

const alignment = 32
const padded = (bytes) => Math.ceil(bytes / alignment) * alignment

export function writeGguf(path, vocabulary) {
  const { tokens, merges, marks } = vocabulary
  const tensors = [...makeTensors(vocabulary)]
  const types = tokens.map((_, id) => (id >= marks.begin ? 3 : 1))
  const keys = [
    ['general.architecture', text('llama')],
    ['general.name', text('made-up')],
    ['llama.vocab_size', whole(tokens.length)],
    ['llama.context_length', whole(shape.context)],
    ['llama.embedding_length', whole(shape.hidden)],
    ['llama.block_count', whole(shape.layers)],
    ['llama.feed_forward_length', whole(shape.feedForward)],
    ['llama.attention.head_count', whole(shape.heads)],
    ['llama.attention.head_count_kv', whole(shape.keyValueHeads)],
    ['llama.attention.layer_norm_rms_epsilon', fraction(shape.normEpsilon)],
    ['llama.rope.dimension_count', whole(shape.hidden / shape.heads)],
    ['llama.rope.freq_base', fraction(shape.ropeBase)],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('gpt-2')],
    ['tokenizer.ggml.tokens', list(tokens.map(text))],
    ['tokenizer.ggml.token_type', list(types.map(signed))],
    ['tokenizer.ggml.merges', list(merges.map((pair) => text(pair.join(' '))))],
    ['tokenizer.ggml.bos_token_id', whole(marks.begin)],
    ['tokenizer.ggml.eos_token_id', whole(marks.end)],
    ['tokenizer.ggml.add_bos_token', truth(false)],
    ['tokenizer.chat_template', text(chatTemplate)],
  ]
  const header = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(keys.length)]
  for (const [name, value] of keys) header.push(named(name), u32(value.type), value.bytes)
  let offset = 0
  for (const tensor of tensors) {
    // The fastest dimension comes first; type 0 is float32.
    const sizes = tensor.rows === 1 ? [tensor.columns] : [tensor.columns, tensor.rows]
    header.push(named(ggufName(tensor.name)), u32(sizes.length), ...sizes.map(u64), u32(0), u64(offset))
    offset += padded(tensor.values.byteLength)
  }
  const file = openSync(path, 'w')
  put(file, Buffer.concat(header))
  for (const { values } of tensors) put(file, Buffer.from(values.buffer))
  closeSync(file)
}

function put(file, bytes) {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  writeSync(file, Buffer.alloc(padded(bytes.length) - bytes.length))
}

const parts = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
}
const ends = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
}

function ggufName(name) {
  const [, layer, part] = /^model\.layers\.(\d+)\.(.+)\.weight$/.exec(name) ?? []
  return part === undefined ? ends[name] : `blk.${layer}.${parts[part]}.weight`
}

// A value with its type's number.
const whole = (value) => ({ type: 4, bytes: u32(value) })
const signed = (value) => ({ type: 5, bytes: u32(value) })
const fraction = (value) => ({ type: 6, bytes: Buffer.from(Float32Array.of(value).buffer) })
const truth = (value) => ({ type: 7, bytes: Buffer.of(value ? 1 : 0) })
const text = (value) => ({ type: 8, bytes: named(value) })
const list = (values) => ({
  type: 9,
  bytes: Buffer.concat([u32(values[0].type), u64(values.length), ...values.map(({ bytes }) => bytes)]),
})

function named(string) {
  const bytes = Buffer.from(string, 'utf8')
  return Buffer.concat([u64(bytes.length), bytes])
}

function u32(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
