import { PlimsollError } from '../../base/errors.ts'

/**
 * A run of a real vLLM server as its three files tell it: `meta.json` (engine settings, GPU), `requests.jsonl` (times of each
 * request on the server's clock) and the workload (lengths, and each prompt as a chain of ids of its blocks).
 */
export interface RealRun {
  readonly model: string
  readonly gpuName: string
  /** GPUs that hold one replica. */
  readonly gpus: number
  /** Ranks of data parallelism: each has a scheduler, seats and a pool of its own. */
  readonly dataParallel: number
  /** The experts of a mixture are spread over all ranks. */
  readonly expertParallel: boolean
  readonly gpuMemoryBytes: number | null
  readonly maxNumSeqs: number
  readonly maxNumBatchedTokens: number
  readonly maxModelLen: number | null
  readonly blockSize: number
  readonly numGpuBlocks: number | null
  readonly gpuMemoryUtilization: number
  readonly enablePrefixCaching: boolean
  /** Requests that have no first or last token: they are neither replayed nor judged. */
  readonly unanswered: number
  /** Ascending by `queuedMs`. */
  readonly requests: readonly RealRequest[]
}

/** Times in ms since the first request came. */
export interface RealRequest {
  readonly id: string
  readonly promptTokens: number
  readonly outputTokens: number
  /** One id for each block of `blockSize` tokens, equal where all tokens up to its end are equal. */
  readonly blockIds: readonly number[]
  /** The scheduler had it. */
  readonly queuedMs: number
  readonly firstTokenMs: number
  readonly lastTokenMs: number
}

/** The texts of the three files and what to call them in an error. */
export interface RealRunTexts {
  readonly meta: RunText
  readonly requests: RunText
  readonly workload: RunText
}

export interface RunText {
  readonly file: string
  readonly text: string
}

/** @throws PlimsollError (PLIM_FILE) that says which file and line cannot be used. */
export function readRealRun(texts: RealRunTexts): RealRun {
  const meta = record(parse(texts.meta.text, texts.meta.file, 1), texts.meta.file, 1)
  const engine = part(meta, 'engine_kwargs')
  const cache = part(meta, 'kv_cache')
  const hardware = part(meta, 'hardware')
  const rows = lines(texts.requests)
  const planned = lines(texts.workload)
  const answered = rows.filter((row) => !isAbsent(row['first_token_ts']) && !isAbsent(row['last_token_ts']))
  if (rows.length === 0) throw unusable(texts.requests.file, 1, 'no request in it', 'one object a line')
  const gibibytes = hardware['memory_gb_each']
  return {
    model: typeof meta['model'] === 'string' ? meta['model'] : 'unknown',
    gpuName: typeof hardware['device_name'] === 'string' ? hardware['device_name'] : 'unknown',
    gpus: numberOr(engine['tensor_parallel_size'], 1) * numberOr(engine['pipeline_parallel_size'], 1),
    dataParallel: Math.max(1, numberOr(engine['data_parallel_size'], 1)),
    expertParallel: engine['enable_expert_parallel'] === true,
    gpuMemoryBytes:
      typeof gibibytes === 'number'
        ? gibibytes * 1e9
        : numberOr(hardware['device_total_memory_bytes'], 0) || null,
    maxNumSeqs: numberOr(engine['max_num_seqs'], 256),
    maxNumBatchedTokens: numberOr(engine['max_num_batched_tokens'], 2048),
    maxModelLen: numberOr(engine['max_model_len'], 0) || null,
    blockSize: numberOr(cache['block_size'], 16),
    numGpuBlocks: numberOr(cache['num_gpu_blocks'], 0) || poolBlocks(cache),
    gpuMemoryUtilization: numberOr(cache['gpu_memory_utilization'], 0.9),
    enablePrefixCaching: cache['enable_prefix_caching'] !== false,
    unanswered: rows.length - answered.length,
    requests: joined(texts, rows, planned),
  }
}

/** Blocks of a pool that only its tokens are told of. */
function poolBlocks(cache: Fields): number | null {
  const tokens = numberOr(cache['num_kv_tokens'], 0)
  return tokens > 0 ? Math.floor(tokens / numberOr(cache['block_size'], 16)) : null
}

/** Rows and plan by their order of arrival: `bench-7` is the eighth line of the workload. */
function joined(
  texts: RealRunTexts,
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>,
  planned: ReadonlyArray<Readonly<Record<string, unknown>>>,
): RealRequest[] {
  // A request that never got as far may have no time at all.
  const startS = rows.reduce((least, row, i) => {
    const late = isAbsent(row['queued_ts']) && isAbsent(row['first_token_ts'])
    return late ? least : Math.min(least, numberAt(row, 'queued_ts', texts.requests.file, i + 1))
  }, Number.POSITIVE_INFINITY)
  const requests = rows.flatMap((row, i): RealRequest[] => {
    if (isAbsent(row['first_token_ts']) || isAbsent(row['last_token_ts'])) return []
    const { file } = texts.requests
    const id = typeof row['request_id'] === 'string' ? row['request_id'] : String(i)
    const index = Number(/(\d+)$/.exec(id)?.[1] ?? i)
    const plan = planned[index]
    if (plan === undefined) {
      throw unusable(file, i + 1, `${id} is not in the workload`, `at most ${planned.length} requests`)
    }
    const promptTokens = numberAt(row, 'input_toks', file, i + 1)
    if (!isAbsent(plan['input_toks']) && plan['input_toks'] !== promptTokens) {
      throw unusable(
        file,
        i + 1,
        `${id} has ${promptTokens} prompt tokens, line ${index + 1} of the workload ${String(plan['input_toks'])}`,
        'the workload that was run',
      )
    }
    const ids: unknown = plan['prompt_blocks']
    const ms = (key: string): number => (numberAt(row, key, file, i + 1) - startS) * 1000
    return [
      {
        id,
        promptTokens,
        outputTokens: numberAt(row, 'output_toks', file, i + 1),
        blockIds: Array.isArray(ids) ? (ids as number[]) : [],
        queuedMs: ms('queued_ts'),
        firstTokenMs: ms('first_token_ts'),
        lastTokenMs: ms('last_token_ts'),
      },
    ]
  })
  return requests.sort((a, b) => a.queuedMs - b.queuedMs)
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

type Fields = Readonly<Record<string, unknown>>

function lines({ file, text }: RunText): Fields[] {
  const found: Fields[] = []
  text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .forEach((line, i) => {
      if (line.trim() !== '') found.push(record(parse(line, file, i + 1), file, i + 1))
    })
  return found
}

function parse(text: string, file: string, line: number): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new PlimsollError('PLIM_FILE', 'not JSON', { where: { file, line }, cause })
  }
}

function record(value: unknown, file: string, line: number): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw unusable(file, line, 'not an object', 'a JSON object')
}

function part(of: Fields, key: string): Fields {
  const value = of[key]
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

function numberAt(row: Fields, key: string, file: string, line: number): number {
  const value = row[key]
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw unusable(file, line, `${key} is ${JSON.stringify(value) ?? 'missing'}`, 'a number')
}

function unusable(file: string, line: number, message: string, expected: string): PlimsollError {
  return new PlimsollError('PLIM_FILE', message, { where: { file, line }, expected })
}
