// How fast `plimsoll import` reads, judges and writes result files of other tools, and in how much memory: AIPerf records (a line a request,
// with chunk lists), one GuideLLM document (requests nested in it, with the texts that it keeps) and vLLM's columns. `node bench/import.mjs [MB] [NAME]`, NAME part of a
// file's name; needs
// `npm run build` first. Prints MB/s and the largest resident size of the verb for each.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const megabytes = Number(process.argv[2] ?? 200)
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(40)

async function write(file, pieces) {
  const out = createWriteStream(file)
  let bytes = 0
  for (const piece of pieces(() => bytes)) {
    bytes += piece.length
    if (!out.write(piece)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}

const target = megabytes * 1e6
const formats = {
  *'aiperf.jsonl'(written) {
    for (let i = 0; written() < target; i++) {
      const start = 1_788_226_305_000_000_000n + BigInt(i) * 10_000_000n
      const gaps = Array.from({ length: 100 }, (_, gap) =>
        (9 + ((i * 31 + gap * 17) % 200) / 100).toFixed(6),
      ).join(',')
      yield `{"metadata":{"request_start_ns":${start},"request_end_ns":${start + 1_100_000_000n},"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"time_to_first_token":{"value":${100 + (i % 50)},"unit":"ms"},"request_latency":{"value":${1100 + (i % 50)},"unit":"ms"},"inter_chunk_latency":{"value":[${gaps}],"unit":"ms"},"output_sequence_length":{"value":101,"unit":"tokens"}},"error":null}\n`
    }
  },
  *'guidellm.json'(written) {
    yield '{"metadata":{"version":2},"benchmarks":[{"config":{"strategy":{"type_":"constant","rate":100}},"requests":{"successful":['
    for (let i = 0; written() < target; i++) {
      const at = 1_788_226_305 + i / 100
      yield `${i > 0 ? ',' : ''}{"request_id":"r${i}","request_args":${JSON.stringify(JSON.stringify({ prompt: text }))},"output":"${text}","info":{"status":"completed","timings":{"request_start":${at},"first_token_iteration":${at + 0.1},"last_token_iteration":${at + 1.1},"request_end":${at + 1.11}}},"output_metrics":{"text_tokens":101},"input_metrics":{"text_tokens":256}}`
    }
    yield ']}}]}'
  },
  *'vllm.json'(written) {
    const requests = Math.round(target / (100 * 22 + text.length + 60))
    const list = function* (name, of) {
      yield `"${name}":[`
      for (let i = 0; i < requests; i++) yield `${i > 0 ? ', ' : ''}${of(i)}`
      yield '],\n'
    }
    yield `{"endpoint_type":"openai","completed":${requests},"duration":${requests / 100 + 2},`
    yield* list('input_lens', () => 256)
    yield* list('output_lens', () => 101)
    yield* list('ttfts', (i) => 0.1 + (i % 50) / 1000)
    yield* list(
      'itls',
      (i) =>
        `[${Array.from({ length: 100 }, (_, gap) => 0.009 + ((i * 31 + gap * 17) % 200) / 1e5 + 1.1e-12).join(', ')}]`,
    )
    yield* list('start_times', (i) => 9000 + i / 100)
    yield* list('generated_texts', () => `"${text}"`)
    yield* list('errors', () => '""')
    yield '"backend":"openai"}'
    void written
  },
}

const verb = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const peak = `data:text/javascript,${encodeURIComponent('process.on("exit", () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}`))')}`

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-import-'))
try {
  for (const [name, pieces] of Object.entries(formats)) {
    if (!name.includes(process.argv[3] ?? '')) continue
    const file = join(folder, name)
    await write(file, pieces)
    const { size } = statSync(file)
    const out = join(folder, 'run')
    const started = performance.now()
    const importing = spawn(
      process.execPath,
      ['--import', peak, verb, 'import', file, '--out', out, '--json'],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let [document, said] = ['', '']
    importing.stdout.on('data', (data) => (document += data))
    importing.stderr.on('data', (data) => (said += data))
    await once(importing, 'close')
    const ms = performance.now() - started
    const { counts, metrics } = JSON.parse(document).runs[0].run
    console.log(
      `${name}: ${(size / 1e6).toFixed(0)} MB, ${counts.planned} requests, ${metrics.gaps_ms?.n ?? 0} gaps, ${(ms / 1000).toFixed(1)} s (${(size / 1e3 / ms).toFixed(0)} MB/s), peak RSS ${(Number(said.split('\n').at(-1)) / 1024).toFixed(0)} MiB`,
    )
    rmSync(out, { recursive: true })
    rmSync(file)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
