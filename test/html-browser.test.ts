import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runPage } from '../src/report/html-run.ts'
import { sweepPage } from '../src/report/html-sweep.ts'
import { sixPerSecond, threeWalls } from './fixtures/documents.ts'

// The pages in a real browser, where there is one. `chromium` is Debian's; nothing is needed to drive it.

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
if (browser === undefined) console.warn('there is no chromium here: the pages are not opened in a browser')

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-html-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function open(page: string, flags: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const path = join(folder, 'page.html')
  writeFileSync(path, page)
  const fixed = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--enable-logging=stderr',
    `--user-data-dir=${folder}/profile`,
  ]
  return new Promise((resolve, reject) => {
    execFile(
      browser ?? '',
      [...fixed, ...flags, `file://${path}`],
      { maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, stderr })
        else reject(error)
      },
    )
  })
}

describe.skipIf(browser === undefined)('in a browser', () => {
  test.each([
    ['run', () => runPage(sixPerSecond, []), 'goodput 4.3 req/s'],
    ['sweep', () => sweepPage(threeWalls), 'capacity 32'],
  ])(
    'the page of a %s opens without a word on the console',
    async (_, make, words) => {
      const { stdout, stderr } = await open(make(), ['--dump-dom'])
      expect(stdout).toContain(words)
      expect(stderr).not.toMatch(/CONSOLE/)
    },
    60_000,
  )

  test('it paints', async () => {
    const picture = join(folder, 'page.png')
    await open(sweepPage(threeWalls), ['--window-size=1100,1400', `--screenshot=${picture}`])
    // A blank page of this size is about 5 kB.
    expect(readFileSync(picture).length).toBeGreaterThan(40_000)
  }, 60_000)
})
