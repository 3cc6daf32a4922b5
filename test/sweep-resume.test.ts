import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, test, vi } from 'vitest'
import { type PlimsollError, describeError } from '../src/base/errors.ts'
import { checkSameModel, checkSameTest } from '../src/flows/same-test.ts'
import type { SweepConfig } from '../src/flows/options/run-config.ts'
import { repeatFlags } from '../src/flows/options/repeat-flags.ts'
import { redact, redactUrl } from '../src/measure/record/redact.ts'
import { describeWorkload } from '../src/flows/run-facts.ts'
import { objectiveText } from '../src/flows/judged-objectives.ts'
import type { SweepDocument, SweepPoint } from '../src/report/documents.ts'
import { cliRun } from './fixtures/cli.ts'
import { scratch, start, startEngine } from './fixtures/product.ts'

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

async function configOf(flags: readonly string[]): Promise<SweepConfig> {
  const { sweep, stderr } = await cliRun(['sweep', ...flags])
  if (sweep === null) throw new Error(stderr)
  return sweep
}

/** As much of what a sweep with these flags keeps as going on looks at. */
function keptOf({ run, axis }: SweepConfig, told: 'flags' | 'words'): SweepDocument {
  const kept: Partial<SweepDocument> = {
    target: {
      engine: null,
      replicas: null,
      kv_tokens: null,
      url: run.target.kind === 'server' ? redactUrl(run.target.url) : 'http://127.0.0.1:40123',
      embedded: run.target.kind === 'embedded',
      api: run.api,
      model: run.model ?? 'llama',
    },
    workload: describeWorkload(run.workload),
    objective: run.objectives.map((one) => objectiveText(one)).join('; '),
    points: [{ load: { kind: axis, value: 1 } } as SweepPoint],
    ...(told === 'flags' ? { repeat: redact(repeatFlags(run)) } : {}),
  }
  return kept as SweepDocument
}

const server = ['-u', 'http://localhost:8123', '--prompt', '256', '--output', '32', '-c', '1,2,4,8']

const rows: readonly [
  sentence: string,
  before: readonly string[],
  now: readonly string[],
  differing: string | null,
][] = [
  ['the same flags', server, server, null],
  ['other loads, durations and a folder', server, [...server.slice(0, 6), '-c', '16', '-d', '9s'], null],
  ['a slash after the address', server, ['-u', 'http://localhost:8123/', ...server.slice(2)], null],
  ['the model that answered, now by its name', server, [...server, '--model', 'llama'], null],
  ['another way to look at the server', server, [...server, '--kv-tokens', '900', '--header', 'X-A=b'], null],
  ['no lengths', server, ['-u', 'http://localhost:8123'], '--prompt, --output'],
  ['no address', server, server.slice(2), '--url'],
  ['an address after the embedded engine', server.slice(2), server, '--url'],
  ['another address', server, ['-u', 'http://localhost:8124', ...server.slice(2)], '--url'],
  ['another API', server, [...server, '--api', 'completions'], '--api'],
  ['another model', server, [...server, '--model', 'other'], '--model'],
  ['no model where one was named', [...server, '--model', 'a'], server, '--model'],
  ['another objective', server, [...server, '--slo', 'p50 ttft < 9s'], '--slo'],
  ['rates after users', server, [...server.slice(0, 6), '--rates', '1,2'], 'what rises'],
  ['another seed', server, [...server, '--seed', '9'], '--seed'],
  ['a template of the body', server, [...server, '--body-template', 'b.json'], '--body-template'],
  ['another embedded engine', ['--engine', 'max-num-seqs=4'], [], '--engine'],
]

test.each(rows)('going on with %s', async (_, before, now, differing) => {
  const earlier = { folder: 'sw3', document: keptOf(await configOf(before), 'flags') }
  const asked = await configOf(now)
  const check = (): void => checkSameTest(earlier, asked, [])
  if (differing === null) expect(check).not.toThrow()
  else expect(check).toThrow(`--resume would mix two tests: ${differing}`)
})

test('a sweep of a version that kept no flags is compared by its words', async () => {
  const earlier = { folder: 'sw3', document: keptOf(await configOf(server), 'words') }
  const same = await configOf(server)
  expect(() => checkSameTest(earlier, same, [])).not.toThrow()
  const other = await configOf(['--prompt', '99', ...server.slice(0, 2), ...server.slice(4)])
  expect(() => checkSameTest(earlier, other, [])).toThrow('--resume would mix two tests: the workload')
})

test('the refusal names both sides and the flags to give', async () => {
  const earlier = { folder: 'my sw', document: keptOf(await configOf(server), 'flags') }
  const asked = await configOf(['-u', 'http://localhost:9000', '--slo', 'ttft < 1s, good 99%'])
  const said = [() => checkSameTest(earlier, asked, []), () => checkSameModel(earlier, 'other')].map(
    (check) => {
      try {
        check()
        return ''
      } catch (error) {
        return describeError(error as PlimsollError)
      }
    },
  )
  expect(said.join('\n')).toMatchInlineSnapshot(`
    "PLIM_USAGE  --resume would mix two tests: --url, --prompt, --output, --slo
      at my sw
      expected --url http://localhost:8123; --prompt 256; --output 32; --slo 'p90 tpot <= 10ms' (as in the folder)
      received --url http://localhost:9000; --prompt 512; --output 128; --slo 'ttft < 1s, good 99%' (as asked for now)
      to go on, give what is expected beside --resume 'my sw': only the loads may be others; another test is a sweep of its own, without --resume
    PLIM_USAGE  --resume would mix two tests: the server has another model
      at my sw
      expected --model llama (as in the folder)
      received other
      name the model where the server has both; else another test is a sweep of its own, without --resume"
  `)
  expect(() => checkSameModel(earlier, 'llama')).not.toThrow()
})

/** Runs the real program until `until` says so, then kills it. */
async function plimsoll(cwd: string, words: readonly string[], until: () => boolean = () => false) {
  const child = spawn(process.execPath, [main, ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const timer = setInterval(() => {
    if (until()) child.kill('SIGKILL')
  }, 20)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(timer)
  return { code, output }
}

it('says of a sweep that was killed what is missing, refuses another test, and goes on with the same', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-resume-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const file = join(cwd, 'sw', 'sweep.json')
  const read = (): SweepDocument | null => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as SweepDocument
    } catch {
      return null
    }
  }
  const test = ['--prompt', '64', '--output', '8', '-d', '1s', '--no-confirm', '--no-progress']
  await plimsoll(cwd, ['sweep', ...test, '-c', '1,2,4', '-o', 'sw'], () => read() !== null)
  const killed = read()
  const loads = killed?.points.map(({ load }) => load.value) ?? []
  const left = [1, 2, 4].filter((users) => !loads.includes(users)).map((users) => `${users} users`)
  const count = `${loads.length} ${loads.length === 1 ? 'point' : 'points'}`
  const why = `cut off after ${count}, unless it still runs; missing: ${left.join(', ')}; the same flags and --resume sw go on`
  expect(killed).toMatchObject({ complete: false, stopped: { kind: 'killed', why } })
  expect((await plimsoll(cwd, ['show', 'sw'])).output).toContain(`incomplete: ${why}`)
  // As versions wrote it that did not say why.
  writeFileSync(file, JSON.stringify({ ...killed, stopped: null }))
  expect((await plimsoll(cwd, ['show', 'sw'])).output).toContain('incomplete: cut off, unless it still runs')

  const before = [readFileSync(file, 'utf8'), readdirSync(join(cwd, 'sw'))]
  const refused = await plimsoll(cwd, ['sweep', '--resume', 'sw', '-c', '1,2,4', '--no-progress'])
  expect(refused.code).toBe(2)
  expect(refused.output).toContain('expected --prompt 64; --output 8 (as in the folder)')
  expect(refused.output).not.toContain('embedded engine is started')
  expect([readFileSync(file, 'utf8'), readdirSync(join(cwd, 'sw'))]).toEqual(before)

  // The loads may be others: each that has no point yet is measured.
  await plimsoll(cwd, ['sweep', ...test, '-c', '2,3', '--resume', 'sw'])
  const all = [...new Set([...loads, 2, 3])].sort((a, b) => a - b)
  expect(read()).toMatchObject({ complete: true, stopped: null })
  expect(read()?.points.map(({ load }) => load.value)).toEqual(all)
}, 90_000)

it.each([
  ['a short key, which stands in clear elsewhere', 'token', [], 'token'],
  ['a long one, which is taken out', 'long-token', [], 'long-token'],
  ['the value of a header', '', ['--header', 'X-Team=long-team'], 'long-team'],
])(
  'goes on with the same test whatever its secrets say: %s',
  { timeout: 60_000 },
  async (_, key, more, seed) => {
    const cwd = scratch()
    const engine = await startEngine([], cwd)
    const test = [
      '--url',
      engine.url,
      '--prompt',
      '64',
      '--output',
      '8',
      '--no-confirm',
      '--seed',
      seed,
      ...more,
    ]
    const words = ['sweep', ...test, '-c', '1', '--duration-per-point', '300ms', '--no-progress']
    const env = { OPENAI_API_KEY: key }
    await start([...words, '-o', 'sw'], { cwd, env }).ended
    const { stdout, stderr } = await start([...words, '--resume', 'sw'], { cwd, env }).ended
    expect(stderr).not.toContain('would mix two tests')
    expect(stdout).toContain('sw')
    await engine.stop()
  },
)

// An answer takes so long that a point of one second has none.
const slow = [
  '--prompt',
  '16',
  '--output',
  '8',
  '-d',
  '2s',
  '--warmup',
  '100ms',
  '--no-confirm',
  '--seed',
  '1',
]

it(
  'a point that Ctrl-C cut decides nothing, in the sweep and in the plan on it',
  { timeout: 90_000 },
  async () => {
    const cwd = scratch()
    const running = start(['sweep', ...slow, '-c', '1,2,4', '-o', 'sw', '--json'], { cwd })
    await vi.waitUntil(() => existsSync(join(cwd, 'sw', '02-users-2', 'journal.ndjson')), { timeout: 60_000 })
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(code).toBe(130)
    const document = JSON.parse(stdout) as SweepDocument
    expect(document.points[1]).toMatchObject({ passes: null, stopped: 'cut short: interrupted' })
    expect(document.walls).toMatchObject({ slo: null, saturation: null })
    expect(document.capacity.load).not.toBe(2)
    expect(document.stopped?.why).toContain('missing: 2 users, 4 users;')
    const { stdout: planned, stderr } = await start(['plan', 'sw', '--peak', '40/s'], { cwd }).ended
    expect(planned + stderr).toContain('--resume sw')
  },
)

it(
  'a server that goes away is said to have answered before, with the command to go on',
  { timeout: 90_000 },
  async () => {
    const cwd = scratch()
    const engine = await startEngine([], cwd)
    const running = start(['sweep', '-u', engine.url, ...slow, '-c', '1,2,4', '-o', 'sw'], { cwd })
    await vi.waitUntil(() => existsSync(join(cwd, 'sw', '02-users-2', 'journal.ndjson')), { timeout: 60_000 })
    await engine.stop()
    const { code, stderr } = await running.ended
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /PLIM_CONNECT {2}nothing answers at \S+; it answered before: [12] points?\n {2}at sw\n/,
    )
    expect(stderr).toContain(
      'plimsoll show sw; to go on: start the server, or correct the address, then the same flags and --resume sw go on',
    )
    const left = JSON.parse(readFileSync(join(cwd, 'sw', 'sweep.json'), 'utf8')) as SweepDocument
    // On a busy machine it went away in the second attempt at the point, of which there is then none.
    for (const point of left.points.slice(1))
      expect(point).toMatchObject({ passes: null, stopped: 'cut short: the server went away' })
    expect(left).toMatchObject({ complete: false, stopped: { kind: 'early' }, walls: { slo: null } })
    expect(left.stopped?.why).toMatch(/^the server went away after [12] points?; missing: 2 users, 4 users;/)
  },
)
