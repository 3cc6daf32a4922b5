import { describe, expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import type { RunConfig, SweepConfig } from '../../flows/options/run-config.ts'

async function config(line: string, yaml?: string): Promise<RunConfig> {
  const files = yaml === undefined ? {} : { 'plimsoll.yaml': yaml }
  const { run, stderr } = await cliRun(['run', ...words(line)], { files })
  if (run === null) throw new Error(stderr)
  return run
}

async function sweepConfig(line: string, yaml?: string): Promise<SweepConfig> {
  const files = yaml === undefined ? {} : { 'plimsoll.yaml': yaml }
  const { sweep, stderr } = await cliRun(['sweep', ...words(line)], { files })
  if (sweep === null) throw new Error(stderr)
  return sweep
}

function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
}

const poisson = (ratePerSecond: number): object => ({ kind: 'poisson', ratePerSecond })
const fixed = (tokens: number): object => ({ kind: 'fixed', tokens })

describe('what flags of run say', () => {
  test.each<[string, string, Partial<Record<keyof RunConfig, unknown>>]>([
    [
      'nothing: a gentle open loop on the embedded engine, long enough for a P99',
      '',
      {
        target: { kind: 'embedded', settings: {}, faults: [] },
        api: 'chat',
        pacer: poisson(5),
        durationMs: 60_000,
        count: null,
        maxConnections: null,
        workload: { kind: 'random', prompt: fixed(512), output: fixed(128) },
        ignoreEos: true,
        objectives: [],
        seed: '1',
        salt: null,
        model: null,
      },
    ],
    ['a URL', '--url http://h:1/v1', { target: { kind: 'server', url: 'http://h:1/v1' } }],
    ['by an alias', '--base-url http://h:1', { target: { kind: 'server', url: 'http://h:1' } }],
    ['by its letter', '-u h:1', { target: { kind: 'server', url: 'h:1' } }],
    ['a host', '--host 10.0.0.7', { target: { kind: 'server', url: 'http://10.0.0.7:8000' } }],
    ['a host of IPv6', '--host ::1 --port 9', { target: { kind: 'server', url: 'http://[::1]:9' } }],
    ['a port', '--port 9', { target: { kind: 'server', url: 'http://localhost:9' } }],
    ["vLLM's backend", '--backend openai', { api: 'completions' }],
    [
      'its chat',
      '--backend openai-chat --endpoint /v1/chat/completions',
      { api: 'chat', endpoint: '/v1/chat/completions' },
    ],
    ['an endpoint that tells the API', '--endpoint /v1/completions', { api: 'completions' }],
    ['auto is no model', '--model auto', { model: null }],
    [
      'headers of several forms',
      "--header a=b 'X-Y: z' -H c=d=e",
      { headers: { a: 'b', 'X-Y': 'z', c: 'd=e' } },
    ],
    ['TLS', '-k --ca ca.pem', { insecure: true, caFile: 'ca.pem' }],
    [
      'replicas',
      '--metrics-url http://a/m --metrics-url http://b/m --replica-header X-Pod --kv-tokens 450k',
      { metricsUrls: ['http://a/m', 'http://b/m'], replicaHeader: 'x-pod', kvTokens: 450_000 },
    ],

    ['a bare rate', '--request-rate 6', { pacer: poisson(6), durationMs: 60_000 }],
    ['a rate per minute', '-r 90/min', { pacer: poisson(1.5) }],
    [
      'a burstiness: the shape of gamma gaps, cv = 1 ÷ √shape',
      '--request-rate 6 --burstiness 0.25',
      { pacer: { kind: 'gamma', ratePerSecond: 6, cv: 2 } },
    ],
    ['burstiness 1 is Poisson', '--request-rate 6 --burstiness 1', { pacer: poisson(6) }],
    [
      'inf sends all at once',
      '--request-rate inf --num-prompts 100',
      { pacer: { kind: 'burst', size: 100, everyMs: null }, count: 100, durationMs: null },
    ],
    [
      'inf with a limit is a closed loop',
      '--request-rate inf --max-concurrency 8 -n 50',
      { pacer: { kind: 'concurrency', users: 8, thinkTimeMs: 0 }, maxConnections: null, count: 50 },
    ],
    [
      'a limit alone is a closed loop',
      '-c 8',
      { pacer: { kind: 'concurrency', users: 8, thinkTimeMs: 0 }, durationMs: 60_000 },
    ],
    [
      'a rate with a limit is an open loop over connections',
      '--request-rate 6 --max-concurrency 8',
      { pacer: poisson(6), maxConnections: 8 },
    ],
    [
      'a ramp ends with itself',
      "--pacer 'ramp 1/s..10/s over 5m'",
      {
        pacer: { kind: 'ramp', fromPerSecond: 1, toPerSecond: 10, durationMs: 300_000 },
        durationMs: 300_000,
      },
    ],
    ['steps end with themselves', "--pacer 'steps 1/s for 30s, 2/s for 10s'", { durationMs: 40_000 }],
    [
      'bursts',
      "--pacer 'burst 10 every 5s' -d 1m",
      { pacer: { kind: 'burst', size: 10, everyMs: 5000 }, durationMs: 60_000 },
    ],
    [
      'one burst',
      "--pacer 'burst 10'",
      { pacer: { kind: 'burst', size: 10, everyMs: null }, count: 10, durationMs: null },
    ],
    [
      'a pacer over connections',
      "--pacer 'constant 6/s' -c 4",
      { pacer: { kind: 'constant', ratePerSecond: 6 }, maxConnections: 4 },
    ],
    ['a count alone has no duration', '-r 20 -n 200', { count: 200, durationMs: null }],
    ['count and duration', '-r 20 -n 200 -d 5s', { count: 200, durationMs: 5000 }],
    [
      'warm-up and drain',
      '--warmup 30s --drain 2m',
      { warmup: { kind: 'fixed', ms: 30_000 }, drainMs: 120_000 },
    ],
    ['a warm-up that is found', '--warmup auto', { warmup: { kind: 'detect' } }],

    [
      "vLLM's lengths",
      '--random-input-len 1024 --random-output-len 64',
      { workload: { kind: 'random', prompt: fixed(1024), output: fixed(64) } },
    ],
    [
      'a range ratio spreads them',
      '--input-len 1000 --output-len 100 --random-range-ratio 0.25',
      {
        workload: {
          kind: 'random',
          prompt: { kind: 'uniform', low: 750, high: 1250 },
          output: { kind: 'uniform', low: 75, high: 125 },
        },
      },
    ],
    [
      'lengths in words',
      "--prompt 'lognormal median 900 p99 4096' --output 'normal 256 sd 30'",
      {
        workload: {
          kind: 'random',
          prompt: { kind: 'lognormal', median: 900, p99: 4096 },
          output: { kind: 'normal', mean: 256, sd: 30 },
        },
      },
    ],
    [
      'a file',
      '--dataset-name sharegpt --dataset-path s.json',
      { workload: { kind: 'sharegpt', path: 's.json', output: null }, ignoreEos: false },
    ],
    [
      "vLLM's custom",
      '--dataset-name custom --dataset-path p.jsonl --custom-output-len 9',
      { workload: { kind: 'jsonl', path: 'p.jsonl', output: fixed(9) } },
    ],
    [
      'a path alone is JSON Lines',
      '--dataset-path p.jsonl',
      { workload: { kind: 'jsonl', path: 'p.jsonl', output: null } },
    ],
    ['no ignore_eos', '--no-ignore-eos', { ignoreEos: false }],
    [
      'sampling',
      `--temperature 0 --top-p 0.9 --extra-body '{"logit_bias":{"1":2}}'`,
      { extraBody: { temperature: 0, top_p: 0.9, logit_bias: { '1': 2 } } },
    ],
    ['seeds', '--seed 0 --salt abc', { seed: '0', salt: 'abc' }],
    ['a warm cache', '--warm-prefix', { warmPrefix: true }],

    [
      "vLLM's goodput",
      '--goodput ttft:500 tpot:30',
      { objectives: [{ name: null, text: 'ttft:500 tpot:30', good: null, form: 'vllm', shedIsBad: true }] },
    ],
    [
      'objectives',
      "--slo 'ttft < 500ms and tpot < 30ms' --slo 'p99 tpot <= 10ms'",
      {
        objectives: ['ttft < 500ms and tpot < 30ms', 'p99 tpot <= 10ms'].map((text) => ({
          name: null,
          text,
          good: null,
          form: 'plimsoll',
          shedIsBad: true,
        })),
      },
    ],
    ["vLLM's percentiles", '--metric-percentiles 50,99,99.90', { percentiles: ['50', '99', '99.9'] }],
    ["numpy's percentiles", '--percentile-type linear', { percentileType: '7' }],
    [
      'timeouts',
      '--timeout-connect 3s --timeout-first-token 20s --timeout-idle none --timeout-total 5m',
      { timeouts: { connectMs: 3000, firstTokenMs: 20_000, idleMs: null, totalMs: 300_000 } },
    ],
    [
      'where it is kept',
      '--result-dir r --label before --metadata a=1 --tag b=2',
      { runsDir: 'r', name: 'before', metadata: { a: '1', b: '2' } },
    ],
    [
      'the engine',
      "--engine-max-num-seqs 64 --engine-no-prefix-caching --engine jitter=0 --fault 'stall 3s at 10s' --fault reset",
      {
        target: {
          kind: 'embedded',
          settings: { 'max-num-seqs': '64', 'no-prefix-caching': true, jitter: '0' },
          faults: ['stall 3s at 10s', 'reset'],
        },
      },
    ],
    [
      'flags that vLLM needs and we do not',
      '--save-result --save-detailed --percentile-metrics ttft,tpot --num-warmups 3 --disable-tqdm --seed 4',
      { seed: '4' },
    ],
  ])('%s', async (_, line, wanted) => {
    expect(await config(line)).toMatchObject(wanted)
  })

  test.each([
    ['two ways to the server', '--url a --port 9', '--url and --host or --port'],
    ['two times to send', "--pacer 'constant 6/s' --request-rate 6", '--pacer and --request-rate'],
    ['bursts without a rate', '-c 4 --burstiness 2', '--burstiness shapes the gaps of a rate'],
    ['a rate of nothing', '--request-rate 0', '--request-rate would send nothing'],
    ['a rate that is none', '--request-rate fast', '--request-rate cannot be read'],
    ['half a request', '-n 1.5', '--num-prompts cannot be read'],
    ['a time without unit', '--duration 60', 'say 60s or 60ms'],
    ['no time', '--duration 0', '--duration would last no time'],
    ['an API that is none', '--api caht', 'did you mean chat?'],
    ['a workload that is none', '--workload randm', 'did you mean random?'],
    ['a file for random', '--workload random --dataset-path x', 'random reads no file'],
    ['no file for sharegpt', '--workload sharegpt', 'needs its file'],
    ['a pacer that is none', "--pacer 'rmap 1/s..2/s over 3s'", 'did you mean "ramp 1/s..10/s over 60s'],
    ['a ramp that is broken', "--pacer 'ramp 1/s to 2/s'", 'expected "ramp 1/s..10/s over 60s'],
    ['lengths upside down', "--prompt 'uniform 200..100'", '--prompt cannot be drawn from'],
    ['a rate that is none: inf is one too', '-r abc', 'a bare number is per second), or inf'],
    ['no time for a warm-up: auto is one too', '--warmup abc', '10m, 1h30m or 30d, or auto'],
    ['a rate for a pacer', '--pacer 6/s', 'did you mean "poisson 6/s" (as users come) or "constant 6/s"'],
    ['a ratio of one', '--random-range-ratio 1', 'under 1'],
    [
      'a key where its variable belongs',
      '--key-env sk-proj-abcdef',
      'takes the name of an environment variable',
    ],
    ['a header without a value', '--header abc', '--header takes pairs'],
    ['JSON that is none', "--extra-body '{a:1}'", '--extra-body is not JSON'],
    ['JSON that is no object', "--extra-body '[1]'", 'is not a JSON object'],
    ['a goodput without a number', '--goodput ttft:fast', '--goodput takes name:milliseconds'],
    ['an engine beside a server', '--url a --engine-max-num-seqs 4', 'belongs to the embedded engine'],
    ['a port that is none', '--port 99999', '--port is not a port'],
    ['a percentile over 100', '--percentiles 101', '--percentiles cannot be read'],
  ])('%s is refused', async (_, line, said) => {
    const { exitCode, stderr, run } = await cliRun(['run', ...words(line)])
    expect(stderr).toContain(said)
    expect({ exitCode, run }).toEqual({ exitCode: 2, run: null })
  })

  test('a key given for its variable is not printed', async () => {
    const { stderr } = await cliRun(['run', '--key-env', 'sk-proj-abcdef'])
    expect(stderr).not.toContain('abcdef')
  })

  test('each flag that is not needed gets a word, and --quiet silences it', async () => {
    const { stderr } = await cliRun(['run', '--save-result', '--result-filename', 'x.json'])
    expect(stderr).toContain('--save-result is accepted and not needed')
    expect(stderr).toContain('plimsoll export RUN --format vllm')
  })
})

describe('flags win over plimsoll.yaml', () => {
  const yaml = `target: { url: http://file:1, headers: { a: "1", b: "2" } }
arrivals: { kind: poisson, rate: 6/s, max_connections: 9 }
window: { measure: 10m }
workload: { prompt: 100, output: 10 }
engine: {}
seed: 7
`
  test.each<[string, string, Partial<Record<keyof RunConfig, unknown>>]>([
    [
      'what is not said is the file’s',
      '',
      {
        target: { kind: 'server', url: 'http://file:1' },
        pacer: poisson(6),
        maxConnections: 9,
        durationMs: 600_000,
        seed: '7',
      },
    ],
    ['a port replaces the address', '--port 9', { target: { kind: 'server', url: 'http://localhost:9' } }],
    ['a rate replaces the load, its limit too', '-r 2', { pacer: poisson(2), maxConnections: null }],
    [
      'users replace the load: the file’s rate makes them no limit',
      '-c 4',
      { pacer: { kind: 'concurrency', users: 4, thinkTimeMs: 0 } },
    ],
    ['a count replaces the end', '-n 10', { count: 10, durationMs: null }],
    ['headers are joined', '--header b=3 c=4', { headers: { a: '1', b: '3', c: '4' } }],
    [
      'one length does not touch the other',
      '--output 20',
      { workload: { kind: 'random', prompt: fixed(100), output: fixed(20) } },
    ],
  ])('%s', async (_, line, wanted) => {
    expect(await config(line, yaml)).toMatchObject(wanted)
  })

  test('the file’s engine is not in the way of a server that the flags name', async () => {
    const file = 'engine: { max_num_seqs: 4 }\nfaults: [reset]\n'
    expect((await config('--url h:1', file)).target).toEqual({ kind: 'server', url: 'h:1' })
    expect((await config('--engine-jitter 0', file)).target).toEqual({
      kind: 'embedded',
      settings: { 'max-num-seqs': '4', jitter: '0' },
      faults: ['reset'],
    })
  })

  test('a file that is found is named', async () => {
    expect((await cliRun(['run'], { files: { 'plimsoll.yaml': 'seed: 2' } })).stderr).toContain(
      'reading plimsoll.yaml\n',
    )
  })

  test('a file that is asked for must be there', async () => {
    const { exitCode, stderr } = await cliRun(['run', '--config', 'other.yaml'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('plimsoll init other.yaml')
  })
})

describe('what flags of sweep say', () => {
  test.each<[string, string, Partial<Record<keyof SweepConfig, unknown>>]>([
    [
      'nothing: loads are found, an objective is there, answers are short',
      '',
      {
        axis: 'concurrency',
        loads: null,
        confirm: true,
        pointDurationMs: null,
        resume: null,
        run: { workload: { kind: 'random', output: fixed(32) }, objectives: [{ form: 'plimsoll' }] },
      },
    ],
    ['users, in any order', '--concurrency 4,1,2,2', { axis: 'concurrency', loads: [1, 2, 4] }],
    ['auto', '-c auto --points 5', { loads: null, maxPoints: 5 }],
    ['rates', '--rates 0.5,2/s', { axis: 'rate', loads: [0.5, 2] }],
    ['rates that are found', '--rates auto', { axis: 'rate', loads: null }],
    ['time', '--duration-per-point 30s --no-confirm', { pointDurationMs: 30_000, confirm: false }],
    ['an objective', "--slo 'p99 tpot <= 10ms'", { run: { objectives: [{ text: 'p99 tpot <= 10ms' }] } }],
    [
      'a server: its lengths are those of run',
      '-u h:1',
      { run: { target: { kind: 'server' }, workload: { output: fixed(128) } } },
    ],
    ['where to go on', '--resume runs/x', { resume: 'runs/x' }],
    [
      'the time of all points together',
      '--max-duration 5m',
      { maxDurationMs: 300_000, pointDurationMs: null },
    ],
  ])('%s', async (_, line, wanted) => {
    expect(await sweepConfig(line)).toMatchObject(wanted)
  })

  test('capacity.at of the file is the objective, before those of single requests', async () => {
    const yaml = 'objectives: { chat: { each: ttft < 1s } }\ncapacity: { at: p99 tpot <= 10ms }\n'
    expect((await sweepConfig('', yaml)).run.objectives.map(({ text }) => text)).toEqual(['p99 tpot <= 10ms'])
    const flag = await sweepConfig("--slo 'p90 ttft <= 1s'", yaml)
    expect(flag.run.objectives.map(({ text }) => text)).toEqual(['p90 ttft <= 1s'])
  })

  test('two axes are refused', async () => {
    expect((await cliRun(['sweep', '-c', '1,2', '--rates', '1,2'])).stderr).toContain(
      'both say what to sweep',
    )
  })
})
