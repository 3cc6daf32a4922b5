// The made-up model as a folder that transformers and vLLM load: config.json, tokenizer.json, and the weights as safetensors
// (8 bytes of length, a JSON header with offsets, the tensors).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatTemplate, makeTensors, shape } from './made-up-model.mjs'

export function writeHuggingFace(folder, vocabulary) {
  const { tokens, merges, marks } = vocabulary
  mkdirSync(folder, { recursive: true })
  const put = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value, null, 1))
  const special = { bos_token_id: marks.begin, eos_token_id: marks.end }
  put('config.json', {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: tokens.length,
    hidden_size: shape.hidden,
    intermediate_size: shape.feedForward,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    head_dim: shape.hidden / shape.heads,
    max_position_embeddings: shape.context,
    rms_norm_eps: shape.normEpsilon,
    rope_theta: shape.ropeBase,
    hidden_act: 'silu',
    tie_word_embeddings: false,
    torch_dtype: 'float32',
    ...special,
  })
  put('generation_config.json', { do_sample: true, ...special })
  put('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: tokens[marks.begin],
    eos_token: tokens[marks.end],
    model_max_length: shape.context,
    clean_up_tokenization_spaces: false,
    chat_template: chatTemplate,
  })
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true }
  put('tokenizer.json', {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: tokens.slice(marks.begin).map((content, i) => ({
      id: marks.begin + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(tokens.slice(0, marks.begin).map((token, id) => [token, id])),
      merges: merges.map((pair) => pair.join(' ')),
    },
  })
  const tensors = [...makeTensors(vocabulary)]
  const header = {}
  let offset = 0
  for (const { name, rows, columns, values } of tensors) {
    header[name] = {
      dtype: 'F32',
      shape: rows === 1 ? [columns] : [rows, columns],
      data_offsets: [offset, (offset += values.byteLength)],
    }
  }
  const json = Buffer.from(JSON.stringify(header).padEnd(Math.ceil(JSON.stringify(header).length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const data = tensors.map(({ values }) => Buffer.from(values.buffer))
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, json, ...data]))
}
