// The real servers that plimsoll is tried on: how each is had, started and read. An engine is
//   {name, start(log): {url, stop}, counters(text) | null, promises}
// where `counters` reads the server's own totals from the text of its /metrics, and `promises` says what must hold of it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildLlamaServer, cannotBuild } from './build-llama-server.mjs'
import { startServer } from './server-process.mjs'
import { writeGguf } from './write-gguf.mjs'
import { writeHuggingFace } from './write-huggingface.mjs'

/** Eight requests at once, 2,048 tokens each: what all of them are started with. */
const seats = 8
const context = 2048

export function llamaServer({ cache, vocabulary, server, model, mayBuild, say }) {
  const name = 'llama-server'
  const built = join(cache, 'llama', 'bin', 'llama-server')
  const why = server !== undefined || existsSync(built) ? null : mayBuild ? cannotBuild() : '--no-build'
  if (why !== null) return { name, skipped: `${why}; --llama-server PATH names one` }
  const binary = server ?? buildLlamaServer(join(cache, 'llama'), say)
  const weights = model ?? join(cache, 'made-up.gguf')
  if (model === undefined) writeGguf(weights, vocabulary)
  const size = ['-np', `${seats}`, '-c', `${seats * context}`]
  return {
    name,
    // One thread: two that wait for each other on a shared machine are fifty times slower than one.
    start: (log) =>
      startServer({
        command: binary,
        args: (port) => ['-m', weights, '--port', `${port}`, ...size, '-t', '1', '-tb', '1', '--metrics'],
        log,
        patienceMs: 30_000,
      }),
    counters: (text) => ({
      prompt: sum(text, 'llamacpp:prompt_tokens_total') + sum(text, 'llamacpp:prompt_tokens_cached_total'),
      generated: sum(text, 'llamacpp:tokens_predicted_total'),
      finished: null,
      // It counts the time of a stream from its first token to its last.
      means: { generationMs: 1000 * sum(text, 'llamacpp:tokens_predicted_seconds_total') },
    }),
    promises: { engine: 'llamacpp', exactPrompts: true, ignoresEos: true, memoryWall: seats },
  }
}

export function vllmServer({ cache, vocabulary, python }) {
  const name = 'vllm'
  const why = cannotImport(python, 'vllm')
  if (why !== null) return { name, skipped: `${why}; --vllm-python PATH names a Python that has vllm` }
  const model = modelFolder(cache, vocabulary)
  const most = ['--max-model-len', `${context}`, '--max-num-seqs', `${seats}`]
  const size = ['--served-model-name', 'made-up', '--block-size', '16', ...most, '--enforce-eager']
  return {
    name,
    start: (log) =>
      startServer({
        command: python,
        args: (port) => ['-m', 'vllm.entrypoints.cli.main', 'serve', model, ...at(port), ...size],
        env: {
          PYTHONPATH: cpuDistribution(cache),
          HF_HUB_OFFLINE: '1',
          OMP_NUM_THREADS: '1',
          VLLM_CPU_OMP_THREADS_BIND: 'nobind',
          VLLM_CPU_KVCACHE_SPACE: '1',
          VLLM_NO_USAGE_STATS: '1',
        },
        log,
        patienceMs: 300_000,
      }),
    counters: (text) => ({
      prompt: sum(text, 'vllm:prompt_tokens_total'),
      generated: sum(text, 'vllm:generation_tokens_total'),
      finished: sum(text, 'vllm:request_success_total'),
      means: {
        ttftMs: 1000 * sum(text, 'vllm:time_to_first_token_seconds_sum'),
        e2eMs: 1000 * sum(text, 'vllm:e2e_request_latency_seconds_sum'),
        tpotMs: 1000 * sum(text, 'vllm:request_time_per_output_token_seconds_sum'),
      },
    }),
    promises: { engine: 'vllm', exactPrompts: true, ignoresEos: true, memoryWall: null, prefixCache: true },
  }
}

export function transformersServer({ cache, vocabulary, python }) {
  const name = 'transformers serve'
  const why = cannotImport(python, 'transformers, accelerate, fastapi, uvicorn, openai')
  if (why !== null)
    return { name, skipped: `${why}; --transformers-python PATH names a Python that has them` }
  const model = modelFolder(cache, vocabulary)
  // Without this folder its list of models answers 500.
  const hub = join(cache, 'hub')
  mkdirSync(hub, { recursive: true })
  const run = 'from transformers.cli.transformers import main; main()'
  return {
    name,
    start: (log) =>
      startServer({
        command: python,
        args: (port) => ['-c', run, 'serve', model, ...at(port), '--device', 'cpu'],
        env: { HF_HUB_OFFLINE: '1', HF_HUB_CACHE: hub, OMP_NUM_THREADS: '1' },
        log,
        patienceMs: 180_000,
      }),
    counters: null,
    promises: { engine: 'uvicorn', exactPrompts: false, ignoresEos: false, memoryWall: undefined },
  }
}

const at = (port) => ['--host', '127.0.0.1', '--port', `${port}`]

function modelFolder(cache, vocabulary) {
  const folder = join(cache, 'made-up')
  writeHuggingFace(folder, vocabulary)
  return folder
}

/** vLLM asks for its version under the name `vllm`, and takes "cpu" in it for the platform; the package is called vllm-cpu. */
function cpuDistribution(cache) {
  const path = join(cache, 'alias')
  const folder = join(path, 'vllm-0+cpu.dist-info')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'METADATA'), 'Metadata-Version: 2.1\nName: vllm\nVersion: 0+cpu\n')
  return path
}

function cannotImport(python, modules) {
  if (python === undefined || !existsSync(python)) return 'no Python was named'
  try {
    execFileSync(
      python,
      ['-c', `import importlib.util as u\nfor m in "${modules}".split(", "): assert u.find_spec(m)`],
      {
        stdio: 'ignore',
      },
    )
    return null
  } catch {
    return `${python} lacks ${modules}`
  }
}

/** All samples of one name, added up; 0 where there is none, as a counter that never counted. */
function sum(text, name) {
  let total = 0
  for (const line of text.split('\n')) {
    if (!line.startsWith(name) || !/^[{ ]/.test(line.slice(name.length))) continue
    total += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return total
}
