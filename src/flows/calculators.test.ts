import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import type { Calculation } from '../stats/calculators/calculator.ts'
import type { CalculationJson } from '../report/calculation-text.ts'
import { calculationSchema } from './calculation-schema.ts'
import { calculateLine, calculators } from './calculators.ts'

const named = calculators.map((one) => [one.name, one] as const)
const broken = /NaN|not a number|undefined|\[object/
const anyWords =
  '0 1 -1 3 100 0.5 1e9 0% 50% 99.5% 100% 0s 1ms 2.3s 30d 0/s 8/s 40/s 1GB 0GB/s 2GB/s 2M x 1x1@1ms 32:3400:9ms 1%:1s..2s 0.1/s/s derate:20% 5ms/- 429 nan inf'
const jsonOf = async (line: string): Promise<Record<string, unknown>> => {
  const { stdout, exitCode, stderr } = await cliRun(['calc', ...line.split(' '), '--json'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown>
}

describe('the list', () => {
  test('names every calculator with an example, and those that were promised are there', async () => {
    const { exitCode, stdout, stderr } = await cliRun(['calc'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const promised =
      'latency tpot weighting chunks prefill little backlog stall utilization merge-p99 compound samples noise runs-needed goodput floor walls kv replicas budget burn page cold-start trigger hpa buckets keda kpa ray wva dynamo admission retry-after backoff adaptive-limit gate ceilings jain'
    for (const name of promised.split(' ')) expect(stdout).toContain(`  plimsoll calc ${name} `)
    for (const { brief } of calculators) expect(stdout).toContain(brief)
  })

  test('as JSON', async () => {
    const { stdout } = await cliRun(['calc', '--json'])
    const { calculators: list } = JSON.parse(stdout) as { calculators: readonly { name: string }[] }
    expect(list.map(({ name }) => name)).toEqual(calculators.map(({ name }) => name))
  })
})

describe('what was meant is blamed', () => {
  test.each([
    [
      'a flag of one letter is read as the others are',
      ['samples', '99', '--n', '1000'],
      0,
      '1,000 values leave 10 beyond P99',
    ],
    [
      'the value that is too small, not its neighbour',
      ['admission', '0', '8/s', '2s', '0.8s'],
      2,
      'received "0"',
    ],
    ['a size without its unit', ['cold-start', '16', '2GB/s'], 2, 'say 16B or 16GB'],
    [
      'a stall that is longer than the test',
      ['stall', '5/s', '3s', '60s'],
      2,
      'the stall does not lie within the test',
    ],
    ['more than a number may be', ['jain', '1e300', '1e300'], 2, 'at most 1,000,000,000,000,000'],
    ['more values than can be counted in a life', ['samples', '99', '999999999999'], 0, 'it is known well'],
  ])('%s', async (_, argv, exitCode, word) => {
    const result = await cliRun(['calc', ...argv])
    expect([result.exitCode, result.stdout + result.stderr]).toEqual([
      exitCode,
      expect.stringContaining(word),
    ])
  })
})

describe.each(named)('%s', (name, { inputs, examples, formula, brief, calculate }) => {
  it('has no two flags of one name, and its own help', async () => {
    const names = ['json', 'help', ...Object.entries(inputs).flatMap(([flag, { also }]) => [flag, ...also])]
    expect(names.filter((one, index) => names.indexOf(one) !== index)).toEqual([])
    // The parser takes no name of one letter, though an alias may be one.
    expect(Object.keys(inputs).filter((one) => one.length < 2)).toEqual([])
    const { exitCode, stdout } = await cliRun(['calc', name, '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`plimsoll calc ${name}`)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${brief} ${formula}`.replaceAll(/\s+/g, ' '))
    for (const flag of Object.keys(inputs)) expect(stdout).toContain(`--${flag}`)
  })

  it('knows each of its flags by each of its names', async () => {
    for (const [flag, { also }] of Object.entries(inputs)) {
      for (const one of [flag, ...also]) {
        const { exitCode, stderr } = await cliRun(['calc', name, `--${one}`, '?!'])
        expect([one, exitCode, stderr.includes('unknown flag'), stderr.includes('one too many')]).toEqual([
          one,
          2,
          false,
          false,
        ])
      }
    }
  })

  it('gives one JSON document with finite figures or null', async () => {
    for (const [args] of examples) {
      const words = [...args.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
      const { stdout, stderr, exitCode } = await cliRun(['calc', name, ...words, '--json'])
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      const document = JSON.parse(stdout) as CalculationJson
      const { issues } = v.safeParse(calculationSchema, document)
      expect(issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
      expect(document).toMatchObject({ schema: 'plimsoll.calculation/1', name })
      expect(document.working.length).toBeGreaterThan(0)
      expect(stdout).not.toMatch(/NaN|undefined|Infinity/)
      for (const [key, figure] of Object.entries(document.results)) {
        expect(key).toMatch(/^[a-z][a-z0-9_]*$/)
        expect(Object.keys(figure)).toEqual(['value', 'unit', 'text'])
        expect(figure.text).toEqual(expect.stringMatching(/./))
      }
    }
  })

  it('refuses a typo with the nearest flag', async () => {
    const [flag] = Object.keys(inputs).filter((one) => one.length > 4)
    if (flag === undefined) return
    const { exitCode, stderr, stdout } = await cliRun([
      'calc',
      name,
      `--${flag.slice(0, -2)}${flag.at(-1)}${flag.at(-2)}`,
      '1',
    ])
    if (flag.at(-1) === flag.at(-2)) return
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(`did you mean --`)
  })

  it('never prints NaN, whatever is typed: it answers or refuses with a sentence', () => {
    const words = fc.constantFrom(...anyWords.split(' '), '')
    const flags = fc.constantFrom(...Object.keys(inputs))
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 5 }),
        fc.array(fc.tuple(flags, words), { maxLength: 4 }),
        (args, given) => {
          expect(
            saidOf(() =>
              calculate({ args, flags: Object.fromEntries(given.map(([flag, word]) => [flag, [word]])) }),
            ),
          ).not.toMatch(broken)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('answers or refuses its examples with any other numbers in them', () => {
    const numbers = fc.constantFrom(
      '0',
      '1',
      '2',
      '0.5',
      '3',
      '7',
      '99',
      '100',
      '1000',
      '0.001',
      '12345.678',
      '1000000',
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...examples.map(([line]) => line)),
        fc.infiniteStream(fc.option(numbers, { freq: 1 })),
        (line, stream) => {
          const changed = line.replaceAll(
            /(?<![\w.-])\d+(?:\.\d+)?|(?<=[:@,/])\d+(?:\.\d+)?/g,
            (old) => stream.next().value ?? old,
          )
          expect(saidOf(() => calculateLine(`${name} ${changed}`))).not.toMatch(broken)
        },
      ),
      { numRuns: 300, interruptAfterTimeLimit: 250 },
    )
  })
})

/** What an answer or a refusal says; figures that are no numbers are told apart. */
function saidOf(calculate: () => Calculation): string {
  try {
    const found = calculate()
    const broken = Object.values(found.results).some(
      ({ value }) => typeof value === 'number' && !Number.isFinite(value),
    )
    return JSON.stringify(found) + (broken ? 'not a number' : '')
  } catch (error) {
    if ((error as Error).name !== 'PlimsollError') throw error
    return (error as Error).message
  }
}

describe('an impossible question gets a sentence and exit code 2', () => {
  test.each([
    ['a margin of 100 %', 'replicas 40/s 8/s 100% 1', 'a margin of 100 % leaves no capacity to use'],
    ['a negative peak', 'replicas --peak -40/s --each 8/s', '--peak cannot be negative'],
    ['a replica that carries nothing', 'replicas 40/s 0/s', 'a replica carries more than nothing'],
    ['a count without unit where a time is meant', 'tpot 2.3 0.3s 401', 'cannot be read'],
    ['nothing at all', 'tpot', '--e2e is missing'],
    ['an empty text', 'tpot --e2e= 0.3s 401', 'needs a value'],
    ['too many arguments', 'tpot 2.3s 0.3s 401 5', '"5" is one too many'],
    ['a last token before the first', 'tpot 0.3s 2.3s 401', 'the last token cannot come before the first'],
    ['no values', 'merge-p99', 'no values to merge'],
    ['units for some only', 'merge-p99 0.6s 0.7', 'some values have a unit and some have none'],
    ['an objective of 0 %', 'burn 0% 3%', 'an objective lies above 0'],
    ['more bad than there were', 'burn 99.5% --bad-count 5 --total 3', 'more were bad than there were'],
    ['one prompt length', 'prefill 256:23ms', 'one length cannot tell the rate from the fixed cost'],
    ['a percentile of 100', 'samples --percentile 100', 'the smallest or largest value'],
    ['a rate of 0', 'stall 0/s 60s 3s', 'nothing is sent'],
    ['a bandwidth without unit', 'cold-start 16GB 2', 'cannot be read'],
    ['a share over 1', 'compound 20 20', 'cannot be read'],
    ['shares that do not add up', 'mix 50%:1s..2s 20%:2s..3s', 'do not add up'],
    ['a calculator that is not there', 'tpto 1s', 'did you mean plimsoll calc tpot?'],
    ['one that nothing is like', 'nosuch 1s', 'plimsoll calc says what each of them answers'],
    ['what one is about', 'queue 1s', 'plimsoll calc retry-after'],
    ['a word of a question', 'knative 1', 'did you mean plimsoll calc kpa?'],
    ['a word of a name', 'percentiles 1', 'did you mean plimsoll calc'],
    ['a flag twice', 'tpot --e2e 2s --latency 3s 0.3s 401', 'given 2 times'],
  ])('%s', async (_, line, said) => {
    const { exitCode, stdout, stderr } = await cliRun(['calc', ...line.split(' ')])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(said)
  })
})

describe('"there is none" is an answer: null, with the reason, and exit code 0', () => {
  test.each([
    ['one token has no pace', 'tpot 0.45s 0.45s 1', 'tpot', 'one token has no pace'],
    ['ρ ≥ 100 %', 'utilization 70% 1.43', 'growth_factor', 'no end'],
    ['ρ = 100 % exactly', 'utilization 80% 1.25', 'time_over_service_after', 'grows without end'],
    ['an objective of 100 %', 'burn 100% 0.01%', 'burn', 'infinite'],
    ['no traffic', 'burn 99.5% --bad-count 0 --total 0', 'burn', 'no traffic'],
    ['nothing burns', 'burn 99.5% 0%', 'days_left', 'for ever'],
    ['a margin with two readings', 'replicas 40/s 8/s 20% 1', 'replicas', 'say which'],
    ['percentiles are not averaged', 'merge-p99 0.6 0.7 0.6 3.0', 'fleet', 'cannot be averaged'],
    ['no point passes', 'walls 1:180:5.78ms --tpot 5ms', 'capacity', 'no point passes'],
    ['no difference', 'runs-needed 0.8ms 0ms', 'runs', 'difference of 0'],
    ['one run', 'noise 20ms 19.3ms 0.8ms 1', 'p', 'no spread'],
    ['a ramp too steep', 'trigger 8/s 1/s/s 40s', 'trigger', 'too late'],
  ])('%s', async (_, line, key, why) => {
    const { results } = await jsonOf(line)
    const figure = (results as Record<string, { value: unknown; text: string }>)[key]
    expect(figure?.value).toBeNull()
    expect(figure?.text).toContain(why)
  })
})

describe('autoscalers, gates and clients, by their own arithmetic', () => {
  test.each([
    ['a ratio of 1.5', 'hpa 4 1.5 1', 'replicas', 6],
    ['nothing is asked of KEDA: an empty answer', 'keda empty --target 5 --current 10', 'replicas', 1],
    ['an answer that is no number', 'keda nan', 'value', 0],
    ['two elements', 'keda 3 4', 'error', true],
    ['a threshold that is met', 'keda 5 --activation 5', 'active', false],
    ['just above it', 'keda 5.001 --activation 5', 'active', true],
    ['a queue of 40', 'keda 40 --target 5 --current 4', 'replicas', 8],
    ['221 over 50', 'keda 221 --target 50 --current 4', 'replicas', 5],
    ['Knative panics', 'kpa 2 100 400', 'desired', 6],
    ['and keeps the activator', 'kpa 2 100 400', 'excess_burst_capacity', -411],
    ['Knative does not', 'kpa 10 700 900', 'desired', 10],
    ['Knative halves at most', 'kpa 10 100 100', 'desired', 5],
    ['Ray', 'ray 3 10', 'wanted', 5],
    ['Ray up: 300 ticks', 'ray 3 10', 'ticks', 300],
    ['Ray down: 6,000', 'ray 3 2', 'ticks', 6000],
    ['WVA on its edge', 'wva 0:0.65 0:0.75', 'action', 'hold'],
    ['WVA below it', 'wva 0:0.75 0:0.72', 'action', 'up'],
    ['Dynamo', 'dynamo 40/s 6.4/s', 'engines', 7],
    ['the gate, closed by one', 'gate 0:0.4 10:0.8', 'saturation', 1.25],
    ['the gate, at its edge', 'gate 5:0.8 5:0.8', 'gated', true],
    ['the gate, open', 'gate 2:0.6 3:0.7', 'saturation', 0.8125],
    ['ceilings', 'ceilings 3 60%', 'band_2', 0.7],
    ['Gradient2', 'adaptive-limit 100 100ms 200ms', 'gradient2', 95.8],
    ['AIMD', 'adaptive-limit 100 100ms 100ms --dropped yes', 'aimd', 90],
    ['the flag of vLLM', 'admission 32 8/s 2s 0.8s --prefill-rate 20000tok/s', 'max_queued_tokens', 40_000],
    ['Retry-After', 'retry-after 30 8/s', 'retry_after', 4],
    ['Retry-After, capped', 'retry-after 1000 8/s', 'retry_after', 60],
    ['Jain', 'jain 1 2 3 4', 'index', 5 / 6],
    ['the first wait of a client', 'backoff 429', 'first_wait', '375 ms to 500 ms'],
    ['60 s are believed', 'backoff 429 --retry-after 60', 'first_wait', '60 s'],
    ['61 s are not', 'backoff 429 --retry-after 61', 'first_wait', '375 ms to 500 ms'],
    ['milliseconds first', 'backoff 429 --retry-after 60 --retry-after-ms 20', 'first_wait', '20 ms'],
    ['told to stay away', 'backoff 503 --should-retry false', 'comes_back', false],
    ['a bound at the limit', 'buckets 500ms', 'settings', 'MIN=0.005 MAX=50 COUNT=21'],
    ['TTFT of Dynamo', 'buckets', 'distinct', 18],
  ])('%s', async (_, line, key, expected) => {
    const { results } = await jsonOf(line)
    const { value } = (results as Record<string, { value: unknown }>)[key]!
    if (typeof expected === 'number') expect(value).toBeCloseTo(expected, 10)
    else expect(value).toBe(expected)
  })
})

test('HPA: what the API’s thousandths make of decimals is told where it differs', async () => {
  const said = async (line: string): Promise<string> => JSON.stringify((await jsonOf(line))['warnings'])
  expect(await said('hpa 3 0.44 0.4')).toContain('440m ÷ 400m goes to 4')
  expect(await said('hpa 3 111 100')).toBe('[]')
  expect(await said('hpa 0 0.44 0.4')).toBe('[]')
})

describe('numbers as people write them', () => {
  test.each([
    [
      'names and order do not matter',
      'latency 400 300ms 20ms',
      'latency --tokens 400 --ttft 0.3s --tpot 20ms',
      'e2e',
    ],
    ['name=value', 'little n=32 w=4s', 'little 32 4s', 'rate'],
    ['thousands and suffixes', 'budget 99.5% 2,000,000', 'budget 0.995 2M', 'budget'],
    ['per minute', 'backlog 600/min 8/s 60s', 'backlog 10/s 8/s 1m', 'backlog'],
    [
      'other names',
      'replicas --demand 40/s --per-gpu 8/s --headroom derate:20% --failures 1',
      'replicas 40/s 8/s derate:20% 1',
      'replicas',
    ],
    ['growth as an increase', 'utilization 70% +30%', 'utilization 0.7 1.3', 'growth_factor'],
    ['bits', 'cold-start 16GB 16Gbit/s', 'cold-start 16GB 2GB/s', 'cold_start'],
    ['a ramp per second', 'trigger 8/s 0.1/s 40s', 'trigger 8/s 6/s/min 40s', 'trigger'],
    ['a percentile for its tail', 'compound P99 20', 'compound 1% 20', 'tasks'],
    ['terabytes', 'cold-start 1.4TB 2GB/s', 'cold-start 1400GB 2GB/s', 'cold_start'],
    ['GiB', 'cold-start 17.179869184GB 2GB/s', 'cold-start 16GiB 2GB/s', 'cold_start'],
    [
      'lists by comma or space',
      'runs-needed 0.8 0.7 --runs 3,5',
      'runs-needed 0.8 0.7 --runs 3 5',
      'detectable_at_5',
    ],
  ])('%s', async (_, first, second, key) => {
    const [a, b] = [await jsonOf(first), await jsonOf(second)]
    const figure = (document: Record<string, unknown>): unknown =>
      (document['results'] as Record<string, { value: unknown }>)[key]?.value
    expect(figure(a)).toBe(figure(b))
    expect(figure(a)).not.toBeUndefined()
  })
})

describe('laws', () => {
  const share = fc.integer({ min: 1, max: 9999 }).map((n) => n / 10_000)
  const positive = fc.integer({ min: 1, max: 100_000 }).map((n) => n / 1000)
  const value = (line: string, key: string): number => calculateLine(line).results[key]!.value as number

  it('E2E of a TPOT is the E2E it came from', () => {
    fc.assert(
      fc.property(positive, positive, fc.integer({ min: 2, max: 5000 }), (ttft, rest, n) => {
        const tpot = value(`tpot ${ttft + rest}s ${ttft}s ${n}`, 'tpot')
        expect(value(`latency ${ttft}s ${tpot}ms ${n}`, 'e2e')).toBeCloseTo(ttft + rest, 6)
      }),
    )
  })

  it('a replica more is never too few: total × usable carries the peak with the failures gone', () => {
    fc.assert(
      fc.property(
        positive,
        positive,
        share,
        fc.integer({ min: 0, max: 5 }),
        (peak, each, margin, failures) => {
          const line = `replicas ${peak}/s ${each}/s derate:${margin} ${failures}`
          const [total, usable] = [value(line, 'replicas'), value(line, 'usable')]
          expect((total - failures) * usable).toBeGreaterThanOrEqual(peak * (1 - 1e-9))
          expect((total - failures - 1) * usable).toBeLessThan(peak * (1 + 1e-9))
        },
      ),
    )
  })

  it('independence lies between the bounds', () => {
    fc.assert(
      fc.property(share, fc.array(share, { minLength: 1, maxLength: 4 }), (success, pass) => {
        const line = `goodput 6/s ${success} ${pass.join(' ')}`
        expect(value(line, 'goodput_low')).toBeLessThanOrEqual(value(line, 'if_independent') + 1e-9)
        expect(value(line, 'if_independent')).toBeLessThanOrEqual(value(line, 'goodput_high') + 1e-9)
      }),
    )
  })

  it('burn × days left is the period', () => {
    fc.assert(
      fc.property(share, share, (objective, bad) => {
        const line = `burn ${objective} ${bad}`
        expect(value(line, 'burn') * value(line, 'days_left')).toBeCloseTo(30, 6)
      }),
    )
  })
})
