// How fast result files of other tools are read, and in how much memory: AIPerf records (a line a request, with chunk lists), one
// GuideLLM document (requests nested in it, with the texts that it keeps) and vLLM's columns. `node bench/import.mjs [MB] [NAME]`, NAME part of a
// file's name; needs
// `npm run build` first. Prints MB/s and the largest resident size of a process of its own for each.
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

const reader = fileURLToPath(new URL('../dist/measure/record/import/import-file.js', import.meta.url))
const child = `const { importFile } = await import(${JSON.stringify(reader)}); let peak = 0; const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 20); const started = performance.now(); const { runs } = await importFile(process.argv[1]); clearInterval(timer); peak = Math.max(peak, process.memoryUsage.rss()); console.log(JSON.stringify({ ms: performance.now() - started, peak, rows: runs[0].rows.length, gaps: runs[0].rows[0].gaps_ms.length }))`

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-import-'))
try {
  for (const [name, pieces] of Object.entries(formats)) {
    if (!name.includes(process.argv[3] ?? '')) continue
    const file = join(folder, name)
    await write(file, pieces)
    const { size } = statSync(file)
    const reading = spawn(process.execPath, ['--input-type=module', '-e', child, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    reading.stdout.on('data', (data) => (out += data))
    await once(reading, 'close')
    const { ms, peak, rows, gaps } = JSON.parse(out)
    console.log(
      `${name}: ${(size / 1e6).toFixed(0)} MB, ${rows} requests × ${gaps} gaps, ${(ms / 1000).toFixed(1)} s (${(size / 1e3 / ms).toFixed(0)} MB/s), peak RSS ${(peak / 1e6).toFixed(0)} MB`,
    )
    rmSync(file)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
