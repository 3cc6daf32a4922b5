import { describe, expect, test } from 'vitest'
import { cliRun } from '../../../test/fixtures/cli.ts'
import { fiveAndFive, pairedFive, pilot, regressed } from '../../../test/fixtures/compare.ts'
import { seedPrefill } from '../../../test/fixtures/prefill.ts'
import { slowLong } from '../../../test/fixtures/why.ts'

describe('compare: what is asked', () => {
  test('two arms, apart by --, flags on both sides', async () => {
    const { compare, exitCode, stderr } = await cliRun([
      'compare',
      '--margin',
      '1%',
      'a1',
      'a2',
      '--',
      'b1',
      '--primary',
      'ttft-p99',
      '--json',
    ])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(compare).toMatchObject({
      kind: 'runs',
      a: { name: 'a1 and 1 more', paths: ['a1', 'a2'] },
      b: { name: 'b1', paths: ['b1'] },
      settings: { margin: 0.01, alpha: 0.05, power: 0.8, primary: 'ttft_p99' },
    })
  })

  test('a baseline is A', async () => {
    expect((await cliRun(['compare', '--baseline', 'main', 'x', 'y'])).compare).toMatchObject({
      a: { paths: ['main'] },
      b: { paths: ['x', 'y'] },
    })
  })

  test('the interleaved design, alike but for the address', async () => {
    const { compare } = await cliRun([
      'compare',
      '--run',
      'http://a:1',
      'http://b:2',
      '--runs',
      '7',
      '-r',
      '6',
      '-d',
      '30s',
      '--out',
      'here',
    ])
    expect(compare).toMatchObject({
      kind: 'interleaved',
      runs: 7,
      out: 'here',
      a: { target: { url: 'http://a:1' }, durationMs: 30_000, out: null },
      b: { target: { url: 'http://b:2' }, pacer: { kind: 'poisson', ratePerSecond: 6 } },
    })
  })

  test('a pilot and a CSV file', async () => {
    expect((await cliRun(['compare', '--plan', 'a', 'b', '--effect', '3%'])).compare).toMatchObject({
      kind: 'plan',
      arms: [['a', 'b'], []],
      effect: 0.03,
    })
    expect((await cliRun(['compare', '--csv', 's.csv', '--columns', 'old,new'])).compare).toMatchObject({
      kind: 'csv',
      path: 's.csv',
      settings: { columns: ['old', 'new'], better: 'higher', scale: 'difference' },
    })
  })

  const refused: [sentence: string, argv: string[], said: string][] = [
    ['nothing', ['compare'], 'a comparison has two arms'],
    ['one arm', ['compare', 'a', 'b'], '2 without -- between them'],
    ['a baseline and --', ['compare', '--baseline', 'a', 'b', '--', 'c'], '--baseline is A'],
    ['two ways at once', ['compare', '--run', '--csv', 'x'], 'two different questions'],
    ['one address', ['compare', '--run', 'http://a'], '--run URL_A URL_B'],
    [
      'a metric of another name',
      ['compare', 'a', '--', 'b', '--primary', 'tpot_men'],
      'did you mean tpot_mean?',
    ],
    ['a margin of everything', ['compare', 'a', '--', 'b', '--margin', '100%'], 'between 0 % and 100 %'],
    ['a margin of nothing', ['compare', 'a', '--', 'b', '--margin', '0'], 'between 0 % and 100 %'],
    [
      'runs beside a table',
      ['compare', '--csv', 'x', 'a', '--', 'b'],
      '--csv compares two columns of a file',
    ],
    ['three columns', ['compare', '--csv', 'x', '--columns', 'a,b,c'], '--columns names two'],
    ['a mistyped flag', ['compare', 'a', '--', 'b', '--margn', '1%'], 'did you mean --margin?'],
    ['a scale that is none', ['compare', '--csv', 'x', '--scale', 'logs'], 'did you mean log?'],
  ]
  test.each(refused)('%s is refused', async (_, argv, said) => {
    const { exitCode, stdout, stderr, compare } = await cliRun(argv)
    expect({ exitCode, stdout, compare }).toEqual({ exitCode: 2, stdout: '', compare: null })
    expect(stderr).toContain(said)
  })
})

describe('compare: what comes out', () => {
  const of = (document: typeof fiveAndFive, interrupted = false) => ({
    flows: { compareFlow: () => Promise.resolve({ kind: 'compared' as const, document, interrupted }) },
  })
  const table: [sentence: string, settings: ReturnType<typeof of>, code: number][] = [
    ['faster', of(pairedFive), 0],
    ['inconclusive', of(fiveAndFive), 0],
    ['a regression', of(regressed), 4],
    ['an interruption before its end', of(regressed, true), 130],
  ]
  test.each(table)('%s', async (_, settings, code) => {
    const { exitCode, stdout } = await cliRun(['compare', 'a', '--', 'b'], settings)
    expect(exitCode).toBe(code)
    expect(stdout).toContain('TPOT mean')
  })

  test('--json is the document, alone on stdout', async () => {
    const { stdout } = await cliRun(['compare', 'a', '--', 'b', '--json'], of(regressed))
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(regressed)))
    const plan = await cliRun(['compare', '--plan', 'a', '--json'])
    expect(JSON.parse(plan.stdout)).toEqual(JSON.parse(JSON.stringify(pilot)))
  })
})

describe('why and prefill', () => {
  test('why prints the answer first; --json the document', async () => {
    expect((await cliRun(['why', 'a', 'b'])).stdout).toMatch(/^X takes 6.30 s longer than Y/)
    expect(JSON.parse((await cliRun(['why', 'a', 'b', '--json'])).stdout)).toEqual(slowLong)
  })
  test.each([
    ['a label', ['why', 'a', 'b', '--by', 'promt'], 'did you mean prompt?'],
    ['a percentile', ['why', 'a', 'b', '--percentile', '101'], 'not a percentile'],
    ['a third side', ['why', 'a', 'b', 'c'], 'c'],
    ['no run at all', ['why'], 'there is no run'],
  ])('%s that cannot be is refused', async (_, argv, said) => {
    const { exitCode, stdout, stderr } = await cliRun(argv)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(said)
  })

  test('prefill prints the rate first; --json the document', async () => {
    expect((await cliRun(['prefill'])).stdout).toMatch(/^prefill 30.1k tokens\/s, and 14.5 ms/)
    expect(JSON.parse((await cliRun(['prefill', '--json'])).stdout)).toEqual(seedPrefill)
  })
  test.each([
    ['one length', ['prefill', '--lengths', '256'], 'two prompt lengths'],
    ['a file and points', ['prefill', 'f', '--points', '1:2ms'], 'two sets of points'],
    ['a time without a unit', ['prefill', '--points', '256:23'], 'without a unit'],
    ['no repeats', ['prefill', '--repeats', '0'], '--repeats'],
  ])('%s is refused', async (_, argv, said) => {
    const { exitCode, stdout, stderr } = await cliRun(argv)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(said)
  })
})
