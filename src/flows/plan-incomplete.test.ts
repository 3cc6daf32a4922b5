import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { noCapacity, threeWalls } from '../../test/fixtures/documents.ts'
import type { SweepDocument } from '../report/documents.ts'
import type { PlanDocument } from '../report/plan-document.ts'
import { renderCapacityPage } from '../report/plan-page.ts'
import { planFlow } from './plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-incomplete-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function sweepAt(name: string, document: SweepDocument): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  await writeFile(join(path, 'sweep.json'), JSON.stringify(document))
  return path
}

const plan = (...argv: string[]): ReturnType<typeof cliRun> =>
  cliRun(['plan', ...argv], { flows: { planFlow } })
const seed = ['--peak', '40/s', '--margin', 'derate:20%', '--survive', '1']

describe('a sweep that was ended before its end', () => {
  const why = 'interrupted after 2 points; missing: 2 users; the same flags and --resume s2 go on'
  const ended = { complete: false, stopped: { kind: 'interrupted', why } } as const

  it('is planned on, and the screen, the page and the document say so', async () => {
    const path = await sweepAt('ended', { ...threeWalls, ...ended })
    const said = `${path} is not complete: ${why}: what was not measured may bind at less, or carry more, than this plan says`
    const { exitCode, stdout } = await plan(path, ...seed)
    expect([exitCode, stdout.split('\n')[3]]).toEqual([0, `  ${said}`])
    const { stdout: json } = await plan(path, ...seed, '--json')
    expect(JSON.parse(json)).toMatchObject({ warnings: [{ kind: 'interrupted', evidence: { points: 7 } }] })
    expect(renderCapacityPage(JSON.parse(json) as PlanDocument)).toContain(`**${said}.**`)
  })

  it('with no load decided is refused, also beside others and for a class', async () => {
    const undecided = noCapacity.points.map((point) => ({ ...point, passes: null }))
    const path = await sweepAt('undecided', { ...noCapacity, ...ended, points: undecided })
    const steady = await sweepAt('steady', threeWalls)
    for (const words of [[path], [steady, path], [steady, '--class', `chat=10/s@${path}`]]) {
      const { exitCode, stdout, stderr } = await plan(...words, ...seed.slice(words.length === 3 ? 2 : 0))
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain('this sweep was ended before any load was decided')
      expect(stderr).toContain('--resume s2')
    }
  })
})
