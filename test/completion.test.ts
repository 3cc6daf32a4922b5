import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { verbEntries } from '../src/cli/verbs/registry.ts'
import { cliRun } from './fixtures/cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const shells = ['bash', 'zsh', 'fish'] as const

function isHere(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'exit 0'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function script(shell: string): Promise<string> {
  const { stdout, exitCode } = await cliRun(['completion', shell])
  expect(exitCode).toBe(0)
  return stdout
}

describe('completion', () => {
  test.each(shells)('%s: every verb and the flags of run are in it', async (shell) => {
    const text = await script(shell)
    for (const { name } of verbEntries) expect(text).toContain(name)
    for (const flag of ['request-rate', 'slo', 'html', 'junit', 'repeat']) expect(text).toContain(flag)
    expect(text).not.toContain('save-detailed')
  })

  test.each(shells.map((shell) => ({ shell, here: isHere(shell) })))(
    '$shell reads it without a word (skipped where it is not there)',
    async ({ shell, here }) => {
      const path = join(folder, `script.${shell}`)
      writeFileSync(path, await script(shell))
      if (!here) return
      expect(execFileSync(shell, ['-n', path], { encoding: 'utf8' })).toBe('')
    },
  )

  test.skipIf(!isHere('bash'))('bash completes verbs, flags and what a flag takes', async () => {
    const path = join(folder, 'complete.bash')
    writeFileSync(path, await script('bash'))
    writeFileSync(join(folder, 'bench.yaml'), '')
    const complete = (line: readonly string[]): string[] => {
      const words = line.map((word) => `'${word}'`).join(' ')
      const source = `compopt() { :; }; . ${path}; cd ${folder}; COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _plimsoll; printf '%s\\n' "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', source], { encoding: 'utf8' }).trim().split('\n')
    }
    expect(complete(['plimsoll', 'sw'])).toEqual(['sweep'])
    expect(complete(['plimsoll', 'run', '--request'])).toEqual(['--request-rate'])
    expect(complete(['plimsoll', 'run', '--config', 'ben'])).toEqual(['bench.yaml'])
    expect(complete(['plimsoll', 'run', '--request-rate', ''])).toEqual([''])
    expect(complete(['plimsoll', 'completion', 'fi'])).toEqual(['fish'])
    expect(complete(['plimsoll', 'calc', 'replic'])).toEqual(['replicas'])
  })

  test('a shell that is not there is refused with the nearest', async () => {
    const { exitCode, stderr } = await cliRun(['completion', 'bsh'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('did you mean bash?')
  })
})
