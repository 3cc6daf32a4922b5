// The benches, and what each promises: a budget, the figure read out of what it printed, and by what it is judged.

/** The first number behind `pattern`'s first group; null where it does not stand there. */
const number = (pattern) => (output) => {
  const found = pattern.exec(output)
  return found === null ? null : Number(found[1].replaceAll(',', ''))
}

/** The median of all numbers that `pattern` finds, the lower of two. */
const middle = (pattern) => (output) => {
  const found = [...output.matchAll(pattern)].map((match) => Number(match[1])).sort((a, b) => a - b)
  return found[Math.floor((found.length - 1) / 2)] ?? null
}

/** The largest (or with `least`, the smallest) of all numbers that `pattern` finds. */
const extreme = (pattern, least) => (output) => {
  const found = [...output.matchAll(pattern)].map((match) => Number(match[1]))
  if (found.length === 0) return null
  return least === true ? Math.min(...found) : Math.max(...found)
}

/** 8 µs where a bare Node socket takes 6.3, and 0.5 ms where its stamps are 0.36 ms late: the budgets as ratios. */
const bareSocket = { cpu: 1.27, stampLag: 1.39 }

/**
 * Each claim is kept when `read(output) <= budget`, or `>=` with `atLeast`. `peer` reads what stands beside it in the same run.
 */
export function benchList({ quick, 'vllm-python': python }) {
  const rounds = quick ? '1' : '3'
  const text = (pattern, words) => (output) => {
    const found = pattern.exec(output)
    return found === null ? '' : words(found)
  }
  return [
    {
      name: 'wire-peers',
      argv: ['bench/wire-peers.mjs', rounds, ...(python === '' ? [] : [python])],
      claims: [
        {
          what: 'client CPU per streamed event, 200 streams × 100 tok/s',
          budget: 8,
          unit: 'µs',
          read: number(/^median CPU per event ([\d.]+) us/m),
          peer: text(
            /([\d.]+) of a bare socket, ([\d.]+) of undici/,
            ([, bare, undici]) => `${bare} × a bare socket, ${undici} × undici`,
          ),
        },
        {
          what: 'client CPU per streamed event, times a bare socket',
          budget: bareSocket.cpu,
          unit: '×',
          read: number(/([\d.]+) of a bare socket, /),
        },
        {
          what: 'client CPU per streamed event: times under vLLM’s Python client',
          budget: 4,
          unit: '×',
          atLeast: true,
          read: number(/^vLLM .*, ([\d.]+) times ours/m),
          absent: 'vLLM is absent: `--vllm-python PATH` names its Python',
          peer: text(/^vLLM (\S+): ([\d.]+) us/m, ([, version, us]) => `vLLM ${version}: ${us} µs`),
        },
      ],
    },
    {
      name: 'streams of 20,000 events/s',
      argv: ['bench/streams.mjs', '200', quick ? '2' : '4', rounds],
      claims: [
        {
          what: 'stamp behind the server’s write, 20,000 events/s on one core, p99',
          budget: 0.5,
          unit: 'ms',
          read: middle(/^plimsoll .*; error p50 [\d.]+ p99 ([\d.]+)/gm),
          peer: (output) => {
            const bare = middle(/^bare sockets .*; error p50 [\d.]+ p99 ([\d.]+)/gm)(output)
            return bare === null ? '' : `bare sockets ${bare} ms`
          },
        },
        {
          what: 'stamp behind the server’s write, 20,000 events/s on one core, p99, times a bare socket',
          budget: bareSocket.stampLag,
          unit: '×',
          read: (output) => {
            const own = middle(/^plimsoll .*; error p50 [\d.]+ p99 ([\d.]+)/gm)(output)
            const bare = middle(/^bare sockets .*; error p50 [\d.]+ p99 ([\d.]+)/gm)(output)
            return own === null || bare === null ? null : own / bare
          },
        },
      ],
    },
    {
      name: 'streams',
      argv: ['bench/streams.mjs', '1000', quick ? '2' : '4', rounds],
      claims: [
        {
          what: '1,000 streams × 100 tok/s on one core: TTFT error p99',
          budget: 5,
          unit: 'ms',
          read: number(/^medians: TTFT error p99 ([\d.]+) ms/m),
          peer: text(/budget of 5 ms, ([\d.]+) of bare sockets/, ([, bare]) => `${bare} × bare sockets`),
        },
        {
          what: '1,000 streams × 100 tok/s on one core: events lost',
          budget: 0,
          unit: 'events',
          read: extreme(/^plimsoll.*\((-?\d+) lost\)/gm),
        },
      ],
    },
    {
      name: 'load-lag',
      argv: ['bench/load-lag.mjs', '1000', '4', rounds],
      claims: [
        {
          what: 'send lag, Poisson 1,000 requests/s, p99',
          budget: 1,
          unit: 'ms',
          read: number(/^median p99 ([\d.]+) ms/m),
          peer: text(
            /([\d.]+) of a bare sleep, ([\d.]+) of timers/,
            ([, sleep, timers]) => `${sleep} × a thread that only sleeps, ${timers} × timers`,
          ),
        },
      ],
    },
    {
      name: 'truth',
      argv: ['bench/truth.mjs', rounds],
      claims: [
        {
          what: 'stamps of `run` against the engine’s own record, p99',
          budget: 1,
          unit: 'ms',
          read: number(/^median p99 ([\d.]+) ms/m),
          peer: text(
            /([\d.]+) of a bare sleep's ([\d.]+) ms/,
            ([, times, ms]) => `${times} × a thread that only sleeps (${ms} ms late)`,
          ),
        },
        {
          what: 'rows of `run` without a line in the engine’s own record',
          budget: 0,
          unit: 'rows',
          read: extreme(/(\d+) rows without their truth/g),
        },
      ],
    },
    {
      name: 'show',
      argv: ['bench/show.mjs'],
      claims: [
        {
          what: '`show` on 100,000 requests × 200 gaps: time',
          budget: 3,
          unit: 's',
          read: number(/^together ([\d.]+) s/m),
          peer: text(/, ([\d.]+) s of CPU, peak/, ([, cpu]) => `${cpu} s of CPU`),
        },
        {
          what: '`show` on 100,000 requests × 200 gaps: memory',
          budget: 1000,
          unit: 'MB',
          read: (output) => {
            const mib = number(/peak (\d+) MiB/)(output)
            return mib === null ? null : (mib * 2 ** 20) / 1e6
          },
        },
      ],
    },
    {
      name: 'import',
      argv: ['bench/import.mjs', quick ? '100' : '1000', 'aiperf,vllm,llmperf'],
      claims: [
        ['AIPerf records', 'aiperf.jsonl'],
        ['vLLM’s columns', 'vllm.json'],
        ['LLMPerf’s list', 'llmperf.json'],
      ].map(([what, file]) => ({
        what: `\`import\` of ${what}, ${quick ? '100 MB' : '1 GB'}: memory`,
        budget: 512,
        unit: 'MiB',
        read: number(new RegExp(`^${file}: .*peak RSS (\\d+) MiB`, 'm')),
        peer: text(
          new RegExp(`^${file}: \\d+ MB, (\\d+) requests, (\\d+) gaps, ([\\d.]+) s`, 'm'),
          ([, requests, gaps, seconds]) => `${requests} requests, ${gaps} gaps, ${seconds} s`,
        ),
      })),
    },
    {
      name: 'start-up',
      argv: ['bench/start-up.mjs', quick ? '10' : '20'],
      claims: [
        {
          what: '`plimsoll --help` over `node -e 0`',
          budget: 40,
          unit: 'ms',
          read: number(/^median over node -e 0 (-?[\d.]+) ms/m),
          peer: text(
            /^least over node -e 0 (-?[\d.]+) ms/m,
            ([, least]) => `least of each: ${least} ms over`,
          ),
        },
      ],
    },
    {
      name: 'install',
      argv: ['bench/install.mjs'],
      claims: [
        {
          what: 'install: packages',
          budget: 12,
          unit: 'packages',
          read: number(/^(\d+) packages with its own/m),
        },
        { what: 'install: size', budget: 15, unit: 'MB', read: number(/packages with its own, ([\d.]+) MB/) },
      ],
    },
    {
      name: 'tokenizer',
      argv: ['bench/tokenizer.mjs', quick ? '2' : '5'],
      claims: ['cold', 'warm'].map((how) => ({
        what: `our byte-level BPE, ${how}, the slower of Qwen3 and Llama 3.1`,
        budget: 1,
        unit: 'M tok/s',
        atLeast: true,
        read: extreme(new RegExp(`${how} ([\\d.]+) M tok/s`, 'g'), true),
        absent: 'the vocabularies are absent: `npm run test:tokenizers` fetches them',
        peer: text(
          /Hugging Face's ([\d.]+) M tok/,
          ([, theirs]) => `@huggingface/tokenizers: ${theirs} M tok/s`,
        ),
      })),
    },
    {
      name: 'engine-cost',
      argv: ['bench/engine-cost.mjs', quick ? '5000' : '20000'],
      claims: [],
    },
    {
      name: 'stall',
      slow: true,
      argv: ['bench/stall.mjs'],
      claims: [
        {
          what: 'a stall of 3 s in 5 requests/s for 60 s: P99 from the intended send, at least',
          budget: 2.3,
          unit: 's',
          atLeast: true,
          read: number(/^open loop: p99 ([\d.]+) s/m),
          peer: text(
            /^waiting client: p99 ([\d.]+) s .*, ([\d.]+) s from the actual/m,
            ([, intended, sent]) =>
              `a client that waits: ${intended} s, counted from its actual sends ${sent} s`,
          ),
        },
        {
          what: 'a stall of 3 s in 5 requests/s for 60 s: P99 from the intended send, at most',
          budget: 2.6,
          unit: 's',
          read: number(/^open loop: p99 ([\d.]+) s/m),
        },
      ],
    },
    {
      name: 'idle-valid',
      slow: true,
      argv: ['bench/idle-valid.mjs', '40', '4'],
      claims: [
        {
          what: 'an idle client against a light load is VALID',
          budget: 95,
          unit: '%',
          atLeast: true,
          read: (output) => {
            const found = /^(\d+) of (\d+) VALID/m.exec(output)
            return found === null ? null : (100 * Number(found[1])) / Number(found[2])
          },
          peer: text(/^(\d+ of \d+) VALID/m, ([, share]) => `${share} runs`),
        },
      ],
    },
  ]
}
