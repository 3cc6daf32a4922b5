import { describe, expect, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { stderrVoice } from './voice.ts'
import type { CliContext, OutputStream } from './verb.ts'
import type { RunProgress } from '../report/progress.ts'

const at = (elapsedMs: number, label = 'measuring'): RunProgress => ({
  label,
  elapsedMs,
  totalMs: 60_000,
  planned: 300,
  sent: 0,
  done: 0,
  ok: 0,
  failed: 0,
  shed: 0,
  askedPerSecond: 5,
  sentPerSecond: null,
  ttftP50Ms: null,
  tpotP50Ms: null,
  lagP99Ms: null,
  leftMs: null,
})
// Ten a second for 21 s.
const often = Array.from({ length: 210 }, (_, index) => at(index * 100))

describe('progress goes to stderr', () => {
  test('on a terminal: one line, at most four times a second, erased at the end', async () => {
    const { stderr, stdout } = await cliRun(['run', '--json'], { terminal: true, progress: often })
    const frames = stderr.split('\r\u001B[K').filter((frame) => frame.includes('measuring'))
    expect(frames.length).toBeGreaterThan(60)
    expect(frames.length).toBeLessThanOrEqual(21 * 4)
    // After the last frame the line is erased before anything else is written.
    expect(stderr.lastIndexOf('\r\u001B[K')).toBeGreaterThan(stderr.lastIndexOf('measuring'))
    expect(stdout).not.toContain('measuring')
  })

  test('elsewhere: a plain line every ten seconds, and when something new is done', async () => {
    const { stderr } = await cliRun(['run', '--json'], { progress: [...often, at(21_000, 'draining')] })
    expect(stderr).not.toContain('\r')
    expect(stderr.match(/measuring/g)).toHaveLength(3)
    expect(stderr.match(/draining/g)).toHaveLength(1)
  })

  test.each([
    ['--no-progress leaves the notices', '--no-progress', /^a notice\n/],
    ['--quiet leaves nothing', '--quiet', /^$/],
  ])('%s', async (_, flag, wanted) => {
    const { stderr } = await cliRun(['run', '--json', flag], { terminal: true, progress: often })
    expect(stderr).toMatch(wanted)
    expect(stderr).not.toContain('measuring')
  })
})

describe('an answer that is awaited', () => {
  const what = 'waiting for a:8000 to answer GET /v1/models before any load'
  const waits = [3000, 3250, 61_000].map((elapsedMs) => ({ what, elapsedMs, mostMs: 120_000 }))

  test('on a terminal one line shows since when and how long at most', async () => {
    const { stderr } = await cliRun(['run', '--json'], { terminal: true, waits })
    const frames = stderr.split('\r\u001B[K').filter((frame) => frame.startsWith('waiting'))
    expect(frames).toEqual([`${what}   3s / 2m`, `${what}   3s / 2m`, `${what}   1m1s / 2m`])
  })

  test('elsewhere it is said once, with the limit', async () => {
    const { stderr } = await cliRun(['run', '--json'], { waits })
    expect(stderr).toBe(`${what}, at most 2m\na notice\n300 requests in 60s\n`)
  })

  test('--quiet says nothing of it', async () => {
    expect((await cliRun(['run', '--json', '-q'], { terminal: true, waits })).stderr).toBe('')
  })
})

test('--quiet tells what was not done as asked all the same', () => {
  let told = ''
  const stderr = { isTerminal: false, say: (text: string) => (told += text) } as unknown as OutputStream
  const voice = stderrVoice({ stderr } as CliContext, { quiet: true, progress: true, yes: true })
  voice.onNotice('a notice')
  voice.onNotice('a is there already and is kept: this goes to a-2', 'not-as-asked')
  expect(told).toBe('a is there already and is kept: this goes to a-2\n')
})
