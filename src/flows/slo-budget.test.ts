import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plainManifest } from '../../test/fixtures/manifest.ts'
import { streamedRow } from '../measure/record/made-rows.ts'
import { writeRun } from '../measure/record/run-folder.ts'
import { renderBudget } from '../report/slo-budget-text.ts'
import { runBudget } from './slo-budget.ts'

const manifest = plainManifest()

test('what the client hung up on is neither good nor bad; what was cut at the end is bad', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-budget-'))
  try {
    const rows = Array.from({ length: 10 }, (_, i) =>
      streamedRow(
        { id: `r${i}`, plannedMs: i * 100, ttftMs: 10, gapsMs: [5] },
        i > 1 ? {} : { ok: false, outcome: 'censored', flags: i === 0 ? ['cancelled_by_client'] : [] },
      ),
    )
    await writeRun(join(folder, 'run'), manifest, rows)
    const [screen] = await runBudget(join(folder, 'run'), [{ text: 'ttft < 1s' }], '30d')
    expect(screen?.basis).toContain('9 requests of ')
    expect(screen?.report.input).toMatchObject({ bad: 1, seen: 9 })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('limits on the run spend no budget: they are named, and alone they are refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-budget-'))
  try {
    const rows = [streamedRow({ id: 'r', plannedMs: 0, ttftMs: 10, gapsMs: [5] })]
    await writeRun(join(folder, 'run'), manifest, rows)
    const of = (...texts: string[]) =>
      runBudget(
        join(folder, 'run'),
        texts.map((text) => ({ text })),
        '30d',
      )
    const [mixed] = await of('ttft < 1s, p99 tpot <= 10ms')
    expect(mixed?.leftOut).toEqual(['p99 tpot <= 10ms'])
    const [beside] = await of('ttft < 1s', 'p99 gap < 50ms')
    expect(beside?.leftOut).toEqual(['p99 gap < 50ms'])
    expect(renderBudget(mixed!, { color: false })).toContain('left out: p99 tpot <= 10ms')
    await expect(of('p99 tpot <= 10ms')).rejects.toThrow(/no limit on each/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
