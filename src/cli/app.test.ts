import { describe, expect, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { clientBound, sixPerSecond, threeWalls } from '../../test/fixtures/documents.ts'
import { PlimsollError } from '../base/errors.ts'
import { verbEntries } from './verbs/registry.ts'

describe('help', () => {
  test('lists every verb by what it is for, on stdout', async () => {
    const { exitCode, stdout, stderr } = await cliRun([])
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
    const width = Math.max(...verbEntries.map(({ name }) => name.length))
    for (const { name, brief } of verbEntries) {
      expect(stdout).toContain(`  ${name.padEnd(width)}  ${brief}`)
    }
    for (const { name, brief } of verbEntries) expect(stdout).toContain(`  ${name.padEnd(width)}  ${brief}`)
    expect(stdout).toContain('130 interrupted')
    for (const argv of [['--help'], ['-h'], ['help']]) expect((await cliRun(argv)).stdout).toBe(stdout)
  })

  test.each(verbEntries.map(({ name }) => name))(
    'of %s names each flag, its aliases, and examples',
    async (name) => {
      const { exitCode, stdout, run } = await cliRun([name, '--help'])
      expect(exitCode).toBe(0)
      expect(run).toBeNull()
      const { flags, examples } = await verbEntries.find((entry) => entry.name === name)!.load()
      for (const [flag, spec] of Object.entries(flags)) {
        if (spec.hidden === true) continue
        expect(stdout).toContain(`--${flag}`)
        for (const alias of spec.aliases ?? []) expect(stdout).toContain(`--${alias}`)
      }
      for (const [line] of examples) expect(stdout).toContain(line)
      expect((await cliRun(['help', name])).stdout).toBe(stdout)
    },
  )

  test.each(verbEntries.map(({ name }) => name))(
    'the examples of %s are accepted as they stand',
    async (name) => {
      const { examples } = await verbEntries.find((entry) => entry.name === name)!.load()
      for (const [line] of examples) {
        const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
        const shell = words.indexOf('>')
        const { exitCode, stderr } = await cliRun(words.slice(1, shell === -1 ? undefined : shell), {
          newest: 'runs/x',
          files: { 'bench.yaml': 'seed: 2' },
        })
        expect([line, exitCode, stderr.includes('PLIM_')]).toEqual([line, name === 'run' ? 3 : 0, false])
      }
    },
  )

  test('the version', async () => {
    for (const asked of ['--version', 'version', '-v', '-V']) {
      expect((await cliRun([asked])).stdout).toBe('0.1.0\n')
    }
  })

  test('no two names of a verb mean two flags', async () => {
    for (const { name, load } of verbEntries) {
      const { flags } = await load()
      const names = Object.entries(flags).flatMap(([flag, { aliases = [], letter }]) => [
        flag,
        ...aliases,
        ...(letter === undefined ? [] : [`-${letter}`]),
      ])
      expect([name, names.filter((one, index) => names.indexOf(one) !== index)]).toEqual([name, []])
    }
  })
})

describe('a mistake is named, and nothing is sent', () => {
  test.each([
    [
      'a flag',
      ['run', '--concurency', '4'],
      'unknown flag --concurency; did you mean --concurrency?     (exit 2; nothing was sent)',
    ],
    [
      'a flag of vLLM',
      ['run', '--max-concurency', '4'],
      'unknown flag --max-concurency; did you mean --max-concurrency?',
    ],
    ['a flag with =', ['run', '--request-rat=4'], 'unknown flag --request-rat; did you mean --request-rate?'],
    ['a negation', ['run', '--no-ignore-eso'], 'unknown flag --no-ignore-eso; did you mean --no-ignore-eos?'],
    ['a flag like no other', ['run', '--zzzzzzzz'], 'unknown flag --zzzzzzzz     (exit 2; nothing was sent)'],
    ['a letter', ['run', '-z'], 'unknown flag -z'],
    ['the letter of a version', ['run', '-v'], 'unknown flag -v; plimsoll --version prints the version'],
    [
      'the version of a verb',
      ['run', '--version'],
      'unknown flag --version of a verb; plimsoll --version prints the version',
    ],
    ['a verb', ['swep'], 'unknown verb swep; did you mean sweep?     (exit 2; nothing was sent)'],
    [
      'a verb like no other',
      ['benchmark'],
      `unknown verb benchmark; the verbs are ${verbEntries.map(({ name }) => name).join(', ')}`,
    ],
    [
      'a flag of GuideLLM',
      ['run', '--rate-type', 'poisson'],
      'PLIM_USAGE  --rate-type is said otherwise here\n  expected --request-rate 6',
    ],
    ['a key, which is not repeated', ['sweep', '--api-key', 'sk-secret'], '--key-env NAME'],
    ['several loads for one run', ['run', '-c', '1,2,4'], 'plimsoll sweep --concurrency 1,2,4'],
    ['what another verb has', ['sweep', '--num-prompts', '4'], 'unknown flag --num-prompts'],
    ['a word too many', ['run', 'now'], 'unexpected argument now'],
    ['help as a word', ['run', 'help'], 'unexpected argument help; did you mean --help?'],
    ['a value too few', ['run', '--seed'], '--seed needs a value'],
    ['a value that is a flag', ['run', '--url', '--json'], '--url needs a value'],
    ['an empty value', ['run', '--seed='], '--seed needs a value'],
    ['an empty variable', ['run', '--url', ''], '--url needs a value'],
    [
      'an empty value by its letter',
      ['run', '-u', ''],
      'received "": is the variable that it comes from empty?',
    ],
    ['an empty verb', [''], 'unknown verb ""; the verbs are'],
    ['a flag twice', ['run', '--seed', '1', '--seed', '2'], '--seed is given twice: 1 and 2'],
    ['a flag twice, by two names', ['run', '--url', 'a', '--base-url', 'b'], '--url is given twice: a and b'],
    ['a setting of the engine', ['run', '--engine-max-num-sqs', '4'], 'did you mean --engine-max-num-seqs?'],
    [
      'a setting of the engine, said in full',
      ['run', '--engine', 'max-num-sqs=4'],
      'did you mean --engine-max-num-seqs?',
    ],
  ])('%s', async (_, argv, said) => {
    const { exitCode, stdout, stderr, run, sweep } = await cliRun(argv)
    expect(stderr).toContain(said)
    expect({ exitCode, stdout, run, sweep }).toEqual({ exitCode: 2, stdout: '', run: null, sweep: null })
  })
})

describe('a file that says nothing is refused, whichever verb is given it', () => {
  const files = { 'empty.yaml': '', 'comments.yaml': '# url: http://localhost:8000\n' }
  const given = [
    'run -f',
    'sweep -f',
    'find -f',
    'prefill -f',
    'compare --run a b -f',
    'model measure -f',
    'plan --each 8/s --peak 40/s -f',
  ]
  test.each(
    given.flatMap((verb) => [
      [`${verb} empty.yaml`, 'an empty file'],
      [`${verb} comments.yaml`, 'nothing beside comments'],
    ]),
  )('%s', async (line, received) => {
    const { exitCode, stdout, stderr, run, sweep, find, compare } = await cliRun(line!.split(' '), { files })
    expect({ exitCode, stdout, run, sweep, find, compare }).toEqual({
      exitCode: 2,
      stdout: '',
      run: null,
      sweep: null,
      find: null,
      compare: null,
    })
    expect(stderr).toContain('PLIM_CONFIG  the file holds no settings')
    expect(stderr).toContain(`received ${received!}`)
  })

  test('so is one that is found', async () => {
    const { exitCode, stderr } = await cliRun(['run'], { files: { 'plimsoll.yaml': '' } })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('at plimsoll.yaml')])
  })
})

describe('exit codes', () => {
  const run = (over: Parameters<typeof cliRun>[1]): ReturnType<typeof cliRun> =>
    cliRun(['run', '--quiet'], over)
  const kept = { ...sixPerSecond, objectives: [] }
  test.each([
    ['0: fine', 0, () => Promise.resolve({ document: kept, interrupted: false })],
    ['3: an objective failed', 3, () => Promise.resolve({ document: sixPerSecond, interrupted: false })],
    [
      '0: an objective that is only counted failed',
      0,
      () =>
        Promise.resolve({
          document: { ...kept, objectives: [{ ...sixPerSecond.objectives[0]!, judged: false }] },
          interrupted: false,
        }),
    ],
    [
      '5: the measurement is invalid, whatever the objective says',
      5,
      () =>
        Promise.resolve({ document: { ...sixPerSecond, verdict: clientBound.verdict }, interrupted: false }),
    ],
    [
      '130: interrupted, whatever the rest says',
      130,
      () => Promise.resolve({ document: clientBound, interrupted: true }),
    ],
    [
      '5: stopped because nearly everything failed',
      5,
      () => Promise.reject(new PlimsollError('PLIM_STOPPED', 'all failed')),
    ],
    [
      '130: interrupted before anything was measured',
      130,
      () => Promise.reject(new PlimsollError('PLIM_INTERRUPTED', 'ended before anything was measured')),
    ],
    ['2: nothing answers', 2, () => Promise.reject(new PlimsollError('PLIM_CONNECT', 'nothing answers'))],
    ['1: a fault of plimsoll', 1, () => Promise.reject(new TypeError('x is not a function'))],
  ])('%s', async (_, exitCode, runFlow) => {
    expect((await run({ flows: { runFlow } })).exitCode).toBe(exitCode)
  })

  test('a fault of plimsoll asks for a report and shows where it was', async () => {
    const { stderr, stdout } = await run({
      flows: { runFlow: () => Promise.reject(new TypeError('x is not a function')) },
    })
    expect(stdout).toBe('')
    expect(stderr).toContain('PLIM_INTERNAL  this is a fault of plimsoll 0.1.0')
    expect(stderr).toContain('app.test.ts')
    expect(stderr).toContain('please report it')
  })

  test.each([
    ['0: a capacity was found', 0, threeWalls],
    [
      '3: no load keeps the objective',
      3,
      { ...threeWalls, capacity: { ...threeWalls.capacity, load: null } },
    ],
    [
      '5: no point can be used',
      5,
      {
        ...threeWalls,
        points: threeWalls.points.map((point) => ({ ...point, verdict: clientBound.verdict })),
      },
    ],
  ])('of a sweep, %s', async (_, exitCode, document) => {
    const sweepFlow = (): Promise<{ document: typeof threeWalls; interrupted: boolean }> =>
      Promise.resolve({ document, interrupted: false })
    expect((await cliRun(['sweep'], { flows: { sweepFlow } })).exitCode).toBe(exitCode)
  })
})

describe('stdout is for the result alone', () => {
  test('--json prints one document and nothing else', async () => {
    const { stdout, stderr } = await cliRun(['run', '--json'])
    expect(stdout.endsWith('\n')).toBe(true)
    expect(stdout.trimEnd()).not.toContain('\n')
    expect(JSON.parse(stdout)).toEqual(sixPerSecond)
    expect(stderr).toContain('a notice')
  })

  test('--quiet leaves stderr empty', async () => {
    expect((await cliRun(['run', '--quiet', '--save-result'])).stderr).toBe('')
  })

  test('show prints each path; export its rows', async () => {
    expect((await cliRun(['show', 'runs/a', 'runs/b'])).stdout.match(/^VALID/gm)).toHaveLength(2)
    expect((await cliRun(['show'], { newest: 'runs/a' })).stdout).toContain('VALID')
    expect((await cliRun(['show'])).exitCode).toBe(2)
    expect((await cliRun(['export', 'runs/a'])).stdout).toBe('{"id":"r-1"}\n{"id":"r-2"}\n')
    const toFile = await cliRun(['export', 'runs/a', '--out', 'rows.jsonl'])
    expect(toFile.stdout).toBe('')
    expect(toFile.stderr).toBe('wrote 2 rows to rows.jsonl\n')
    expect(toFile.written.get('rows.jsonl')).toBe('{"id":"r-1"}\n{"id":"r-2"}\n')
  })

  test('the plan is asked about on a terminal, unless --yes', async () => {
    expect((await cliRun(['run'], { answer: false })).exitCode).toBe(1)
    expect((await cliRun(['run', '--yes'], { answer: false })).exitCode).toBe(3)
    expect((await cliRun(['run'])).stderr).toContain('300 requests in 60s')
  })
})
