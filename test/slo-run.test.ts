import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runBudget } from '../src/flows/slo-budget.ts'
import { toNumber } from '../src/stats/rational.ts'
import { main } from './fixtures/product.ts'

it('the budget of a run counts each request of its window once, by its objective', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-budget-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const run = join(folder, 'run')
  // On a busy machine the measurement is INVALID (exit 5); the rows are there all the same.
  spawnSync(
    process.execPath,
    [main, 'run', '-r', '40', '-n', '60', '--output', '4', '--prompt', '32', '--quiet', '--out', run],
    { cwd: folder, stdio: 'ignore' },
  )
  const [impossible, easy] = await runBudget(
    run,
    [{ text: 'ttft < 1us, good 99%' }, { text: 'e2e < 600s', good: '99.5%' }],
    '30d',
  )
  expect(impossible?.report.input).toMatchObject({ bad: 60, seen: 60 })
  expect(impossible?.report.badShare && toNumber(impossible.report.badShare)).toBe(1)
  expect(easy?.report.input).toMatchObject({ bad: 0, seen: 60 })
  expect(easy?.report.lasts).toBe('never')
})
