import { spawn, spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, scratch, startEngine } from './fixtures/product.ts'

/** A core that this process may use, or null where that cannot be said or chosen. */
function oneCore(): string | null {
  const { status, stdout } = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' })
  return status === 0 ? (/: (\d+)/.exec(stdout)?.[1] ?? null) : null
}

/** Busy loops that share one core with whoever is pinned there. */
function burn(core: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const burner = spawn('taskset', ['-c', core, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' })
    onTestFinished(() => void burner.kill('SIGKILL'))
  }
}

const core = oneCore()

describe('a client that shares its core with four busy loops', () => {
  test.skipIf(core === null)(
    'says so: its verdict is DEGRADED or INVALID (needs taskset)',
    { timeout: 120_000 },
    async () => {
      const cwd = scratch()
      const engine = await startEngine([], cwd)
      burn(core!, 4)
      const { document, code } = await run(
        ['--url', engine.url, '--request-rate', '50', '--duration', '6s', '--prompt', '32', '--output', '32'],
        { cwd, before: ['taskset', '-c', core!] },
      )
      await engine.stop()
      expect(document.verdict.status).toMatch(/^(DEGRADED|INVALID)$/)
      // By what the client saw of itself, and not only by how busy the machine is.
      const rules = document.verdict.reasons.map(({ rule }) => rule)
      expect(rules.filter((rule) => rule === 'loop_delay' || rule === 'late_sends')).not.toEqual([])
      expect(code).toBe(document.verdict.status === 'INVALID' ? 5 : 0)
    },
  )
})
