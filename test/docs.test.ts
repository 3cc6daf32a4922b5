import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { verdictLimits } from '../src/judge/validity.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

describe('docs', () => {
  it('errors.md has a line for every code, and no other', () => {
    const codes = [...read('src/base/errors.ts').matchAll(/^ {2}\| '(PLIM_[A-Z_]+)'/gm)].map(
      (match) => match[1],
    )
    const documented = [...read('docs/errors.md').matchAll(/^\| `(PLIM_[A-Z_]+)`/gm)].map((match) => match[1])
    expect(codes.length).toBeGreaterThan(10)
    expect(documented).toEqual(codes)
  })

  it('verdict.md prints the limits that the code uses', () => {
    const text = read('docs/verdict.md')
    const row = (rule: string): string => text.split('\n').find((line) => line.includes(`\`${rule}\``)) ?? ''
    const percent = (share: number): string => `${Number((share * 100).toFixed(3))} %`
    for (const [rule, limits] of [
      ['late_sends', verdictLimits.lateShare],
      ['load_not_sent', verdictLimits.unsentShare],
      ['stood_still', verdictLimits.standstillShare],
    ] as const) {
      expect(row(rule)).toContain(`| ${percent(limits.invalid)} |`)
      expect(row(rule)).toContain(`| ${percent(limits.degraded)}`)
    }
    expect(row('rows_lost')).toContain(`| ${percent(verdictLimits.rowsLostShare.invalid)} | any |`)
    expect(row('loop_delay')).toContain(
      `| ${verdictLimits.loopDelayP99Ms.invalid} ms | ${verdictLimits.loopDelayP99Ms.degraded} ms |`,
    )
    expect(row('stood_still')).toContain(`from ${verdictLimits.standstillLeastMs} ms on`)
    for (const [rule, limit] of [
      ['worker_busy', verdictLimits.workerCpu],
      ['warm_cache', verdictLimits.cacheHitRate],
      ['little_violated', verdictLimits.little],
      ['shared_machine', verdictLimits.sharedMachineBusy],
    ] as const) {
      expect(row(rule)).toContain(`over ${percent(limit)}`)
    }
  })
})
