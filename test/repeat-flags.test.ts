import { describe, expect, test } from 'vitest'
import { repeatFlags } from '../src/flows/options/repeat-flags.ts'
import type { RunConfig } from '../src/flows/options/run-config.ts'
import { cliRun } from './fixtures/cli.ts'

async function runConfig(words: readonly string[], yaml?: string): Promise<RunConfig> {
  const { run, stderr } = await cliRun(['run', ...words], {
    files: yaml === undefined ? {} : { 'plimsoll.yaml': yaml },
  })
  if (run === null) throw new Error(stderr)
  return run
}

/** What the next command is not meant to keep: the load, the client's own affairs, where it is stored. */
const apart = ['pacer', 'maxConnections', 'salt', 'workers', 'keepText', 'name', 'out', 'runsDir', 'metadata']

function kept(config: RunConfig): object {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !apart.includes(key)))
}

describe('the flags of a run ask for the same again', () => {
  test.each<[string, readonly string[]]>([
    ['nothing was said', []],
    [
      'lengths and an objective',
      ['--prompt', '900', '--output', '64', '--slo', 'ttft < 500ms and tpot < 30ms'],
    ],
    ['a body of its own', ['--body-template', 'body.json']],
    ['two objectives', ['--slo', 'p99 tpot <= 10ms', '--slo', 'ttft < 1s, good 99.5%']],
    ["vLLM's objective", ['--goodput', 'ttft:500', 'tpot:30']],
    ['long fixed lengths', ['--prompt', '12k', '--output', '1,000']],
    ['uniform lengths', ['--prompt', 'uniform 100..200', '--random-range-ratio', '0']],
    [
      'spread lengths',
      ['--random-input-len', '512', '--random-output-len', '128', '--random-range-ratio', '0.2'],
    ],
    [
      'normal and lognormal lengths',
      ['--prompt', 'normal 500 sd 50.5', '--output', 'lognormal median 90 p99 409'],
    ],
    ['a shared prefix', ['--shared-prefix', '64', '--warm-prefix']],
    ['a share of prefixes', ['--prefix-hit-rate', '57.5%']],
    ['sessions', ['--turns', '4', '--turn-think', 'exponential 2500ms', '--prompt', '30']],
    [
      'a mix',
      [
        '--class',
        'chat=3:D(900,200)',
        '--class',
        'code=1.5:N(900,100)/(200,20)',
        '--class',
        'u=1:U(1,9)/(2,3)',
      ],
    ],
    ['a mix with a file', ['--class', 'chat=3:D(900,200)', '--class', "it's=1:jsonl:a b.jsonl"]],
    ['a file', ['--workload', 'jsonl', '--dataset-path', 'my prompts.jsonl', '--output', '64']],
    ['a batch file without lengths', ['--workload', 'batch', '--dataset-path', 'batch.jsonl']],
    ['a trace', ['--workload', 'trace', '--dataset-path', 't.csv', '--trace-speed', '2x']],
    [
      'a server with a path',
      ['--url', 'http://[::1]:8000/v1?x=1&y=2', '--api', 'completions', '--model', 'a b'],
    ],
    ['several models', ['--url', 'http://h:1', '--model', 'base:3,adapter:1']],
    ['another API', ['--url', 'http://h:1', '--api', 'anthropic']],
    ['another key', ['--url', 'http://h:1', '--key-env', 'MY_KEY', '--header', 'X-Team=a, b', 'X-Tier=1']],
    ['embeddings', ['--url', 'http://h:1', '--api', 'embeddings', '--prompt', '300']],
    ['no stream', ['--url', 'http://h:1', '--no-stream', '--endpoint', '/v2/chat']],
    ['TLS and proxies', ['--url', 'https://h:1', '--insecure', '--http2', '--ca', 'my ca.pem']],
    ['AWS', ['--url', 'https://h:1', '--aws-sigv4', 'bedrock:eu-central-1']],
    [
      'metrics',
      [
        '--url',
        'http://h:1',
        '--metrics-url',
        'http://a:1/metrics',
        '--metrics-url',
        'http://b:1',
        '--kv-tokens',
        '40000',
        '--replica-header',
        'x-pod',
      ],
    ],
    ['an engine of its own', ['--engine-max-num-seqs', '64', '--fault', 'stall 3s at 10s']],
    ['cancelled requests', ['--cancel-rate', '12.5%', '--cancel-after', '250ms']],
    ['fields', ['--temperature', '0.7', '--extra-body', '{"stop":["it\'s"]}', '--no-ignore-eos']],
    ['a tokenizer and a seed', ['--tokenizer', 'my/tokenizer.json', '--seed', 'x y']],
    ['percentiles', ['--percentiles', '50,99.5', '--percentile-type', '7']],
    ['limits', ['--timeout-first-token', 'none', '--timeout-total', '1500ms', '--timeout-connect', '2s']],
    ['an end by count', ['--num-prompts', '300']],
    ['both ends', ['--num-prompts', '300', '--duration', '60s', '--warmup', '1500ms', '--drain', '5s']],
    ['a warm-up that is found', ['--warmup', 'auto', '--duration', '90s']],
  ])('%s', async (_, words) => {
    const config = await runConfig(words)
    // As a run folder keeps it.
    const again = repeatFlags(JSON.parse(JSON.stringify(config)) as Partial<RunConfig>)
    if (again === null) throw new Error('there are flags that say it')
    const url = config.target.kind === 'server' ? ['--url', config.target.url] : []
    const load = config.durationMs === null && config.count === null ? [] : again.ends
    expect(kept(await runConfig([...url, ...again.asked, ...load]))).toEqual(kept(config))
  })

  test('what only the file can say has none', async () => {
    const yaml = 'workload:\n  classes:\n    chat: { weight: 1, prompt: uniform 100..200, output: 50 }\n'
    expect(repeatFlags(await runConfig([], yaml))).toBeNull()
    expect(repeatFlags({})).toBeNull()
  })
})
