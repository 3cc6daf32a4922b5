import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, type Figure } from '../../stats/calculators/figures.ts'
import { assumed, optional } from '../../stats/calculators/inputs.ts'
import { bytes, count } from '../../stats/calculators/quantities.ts'
import { noun } from '../../base/noun.ts'
import { formatBytes } from '../../base/units.ts'
import {
  averageHoldWall,
  kvBlocks,
  kvBytesPerToken,
  kvPoolTokens,
  memoryWall,
  type KvShape,
} from '../kv-pool.ts'

export const kvCalculator: Calculator = calculator({
  name: 'kv',
  group: 'Capacity',
  brief: 'How many requests does the KV cache hold?',
  formula:
    'bytes/token = 2 × layers × kv heads × head dim × bytes; memory wall = ⌊pool tokens ÷ tokens a request holds when it ends⌋',
  inputs: {
    'kv-tokens': optional(count(1), 'tokens that the pool holds', {
      bare: true,
      also: ['pool-tokens', 'tokens'],
    }),
    request: optional(count(1), 'tokens of a request when it ends', {
      bare: true,
      also: ['tokens-per-request', 'each'],
    }),
    prompt: optional(count(0), 'prompt tokens', { also: ['input'] }),
    output: optional(count(0), 'output tokens', { also: [] }),
    pool: optional(bytes, 'memory of the pool, instead of its tokens: 40GiB', { also: ['memory'] }),
    layers: optional(count(1), 'layers of the model'),
    'kv-heads': optional(count(1), 'key-value heads', { also: ['heads'] }),
    'head-dim': optional(count(1), 'dimension of a head', { also: ['dim'] }),
    bytes: assumed(count(1), '2', 'bytes of an element: 2 for BF16, 1 for FP8', { also: ['element-bytes'] }),
    'block-size': optional(count(1), 'tokens of a block, as the engine rounds up'),
  },
  examples: [
    ['450000 3000', 'a pool of 450,000 tokens, 3,000 a request'],
    ['--kv-tokens 450k --prompt 2000 --output 1000', 'at the end, and on average'],
    ['--pool 40GiB --layers 32 --kv-heads 8 --head-dim 128 --request 3000', 'from the shape of the model'],
  ],
  work(i) {
    const results: Record<string, Figure> = {}
    const working: string[] = []
    const shape = shapeOf(i)
    let pool = i['kv-tokens']
    if (shape !== null) {
      const each = kvBytesPerToken(shape)
      results['bytes_per_token'] = countFigure(each, 'bytes')
      working.push(
        `2 × ${plain(shape.layers)} ${noun(shape.layers, 'layer')} × ${plain(shape.kvHeads)} KV heads × ${plain(shape.headDim)} × ${plain(shape.bytesPerElement)} bytes = ${plain(each)} bytes a token`,
      )
      if (pool === null && i.pool !== null) {
        pool = kvPoolTokens(i.pool.value, shape)
        working.push(
          `${plain(i.pool.value)} bytes (${formatBytes(i.pool.value)}) ÷ ${plain(each)} = ${plain(pool)} tokens`,
        )
      }
    } else if (i.pool !== null) {
      throw impossible(
        'the shape of the model is missing',
        '--layers N --kv-heads N --head-dim N',
        'only --pool',
      )
    }
    if (pool !== null) results['pool_tokens'] = countFigure(pool, 'tokens')
    const both = i.prompt !== null && i.output !== null
    const held = i.request ?? (both ? i.prompt! + i.output! : null)
    if (held === null) {
      if (Object.keys(results).length === 0)
        throw impossible('a pool is missing', '--kv-tokens N, or --pool BYTES with the shape of the model')
      const first =
        pool === null
          ? `${plain(results['bytes_per_token']!.value as number)} bytes a token`
          : `${plain(pool)} tokens`
      return {
        answer: first,
        results,
        working,
        assumptions: [],
        mistake: null,
        next: ['plimsoll calc kv --kv-tokens N --prompt N --output N'],
      }
    }
    if (held < 1) throw impossible('a request holds at least one token', '--prompt and --output above 0', '0')
    if (pool === null)
      throw impossible('a pool is missing', '--kv-tokens N, or --pool BYTES with the shape of the model')
    const size = i['block-size']
    const rounded = size === null ? held : kvBlocks(held, size) * size
    if (size !== null)
      working.push(
        `${plain(held)} tokens take ⌈${plain(held)} ÷ ${plain(size)}⌉ = ${plain(kvBlocks(held, size))} blocks = ${plain(rounded)} tokens`,
      )
    const wall = memoryWall(pool, rounded)
    results['memory_wall'] = countFigure(wall, 'requests')
    results['tokens_per_request'] = countFigure(held, 'tokens')
    working.push(
      `⌊${plain(pool)} ÷ ${plain(rounded)}⌋ = ${plain(wall)} ${noun(wall, 'request')}, each as long as when it ends`,
    )
    let mistake: string | null = 'counting prompts only: a request is longest when it ends'
    if (both) {
      const average = averageHoldWall(pool, i.prompt!, i.output!)
      results['average_wall'] = countFigure(average, 'requests')
      working.push(
        `⌊${plain(pool)} ÷ (${plain(i.prompt!)} + ${plain(i.output!)} ÷ 2)⌋ = ${plain(average)} on average over their lives: between the two the engine preempts`,
      )
      mistake = `planning on the average of ${plain(average)}: when more than ${plain(wall)} near their end together, some are thrown out and start again`
    }
    return {
      answer: `${plain(wall)} ${noun(wall, 'request fits', 'requests fit')}`,
      results,
      working,
      assumptions: [
        'no prefix is shared between requests',
        'all requests are of this length; take the 99th percentile beside the mean',
      ],
      mistake,
      next: ['plimsoll calc walls', 'plimsoll sweep --kv-tokens N'],
    }
  },
})

function shapeOf(i: {
  readonly layers: number | null
  readonly 'kv-heads': number | null
  readonly 'head-dim': number | null
  readonly bytes: number
}): KvShape | null {
  const { layers } = i
  const kvHeads = i['kv-heads']
  const headDim = i['head-dim']
  if (layers === null && kvHeads === null && headDim === null) return null
  if (layers === null || kvHeads === null || headDim === null) {
    throw impossible('the shape of the model is not complete', '--layers N --kv-heads N --head-dim N')
  }
  return { layers, kvHeads, headDim, bytesPerElement: i.bytes }
}
