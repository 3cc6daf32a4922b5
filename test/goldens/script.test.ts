import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/goldens.mjs', import.meta.url))
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'goldens-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(path: string): { status: number | null; lines: string[] } {
  const { status, stdout } = spawnSync(process.execPath, [script, path], { encoding: 'utf8' })
  return { status, lines: stdout.trimEnd().split('\n') }
}
function runEntries(entries: unknown): ReturnType<typeof run> {
  const path = join(folder, 'entries.json')
  writeFileSync(path, JSON.stringify(entries))
  return run(path)
}
const entry = (id: string, question: string, inputs: unknown, expected: unknown): unknown => ({
  id,
  question,
  inputs,
  expected,
  tolerance: { rel: 1e-6 },
})

describe('npm run goldens -- FILE', () => {
  it('every entry of the families passes', () => {
    const { status, lines } = run(fileURLToPath(new URL('./goldens.json', import.meta.url)))
    expect(lines.at(-1)).toBe('110 passed, 0 failed')
    expect(status).toBe(0)
    expect(lines).toHaveLength(311)
  })

  it('a wrong number fails by name, another entry is named and not counted', () => {
    const { status, lines } = runEntries([
      entry('right', 'Q4', { rho: 0.5, servers: 1 }, { p_wait: 0.5, w_over_s: 2 }),
      entry('wrong', 'Q4', { rho: 0.5, servers: 1 }, { p_wait: 0.4, w_over_s: 2 }),
      entry('other', 'Q1', {}, 3),
      entry('unknown key', 'Q8', { peak: '1', per_gpu: '1', margin: '0', failures: 0 }, { colour: 3 }),
    ])
    expect(lines).toEqual([
      'passed  right',
      'failed  wrong: .p_wait 0.5 is not 0.4',
      'other   other',
      'other   unknown key',
      '1 passed, 1 failed',
    ])
    expect(status).toBe(1)
  })

  it('an input that the product refuses has the truth null', () => {
    const { lines } = runEntries([
      entry('margin', 'Q8', { peak: '40', per_gpu: '8', margin: '1', failures: 0 }, null),
      entry('overload', 'Q4', { rho: 1, servers: 3 }, null),
    ])
    expect(lines.at(-1)).toBe('2 passed, 0 failed')
  })

  it('a described series is read', () => {
    const series = 'x_i=100+0.5*i+e_i, e_i=((i*7919)%101-50)/10, i=0..299'
    const { lines } = runEntries([
      entry('trend', 'steady_state', { series, batch: 5 }, { d_star: 30, d_star_unrestricted: 55, class: 'no_steady_state' }),
      entry('nonsense', 'steady_state', { series: 'as it comes', batch: 5 }, { d_star: 30 }),
    ])
    expect(lines).toEqual(['passed  trend', 'other   nonsense', '1 passed, 0 failed'])
  })

  it('a file that is not there, or no list, is a usage error', () => {
    expect(run(join(folder, 'absent.json')).status).toBe(2)
    expect(runEntries({}).status).toBe(2)
  })
})
