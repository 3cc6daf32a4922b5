import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The command itself, as a process: what only a process can show.

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function plimsoll(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, ...args],
      { cwd: folder, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr })
      },
    )
  })
}

describe('the command', () => {
  test('help and version', async () => {
    const help = await plimsoll([])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('plimsoll run')
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(await plimsoll(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('a pipe gets no colour, FORCE_COLOR gives it, NO_COLOR takes it', async () => {
    const escape = '\u001B['
    expect((await plimsoll(['--help'])).stdout).not.toContain(escape)
    expect((await plimsoll(['--help'], { FORCE_COLOR: '1' })).stdout).toContain(escape)
    expect((await plimsoll(['--help'], { NO_COLOR: '1' })).stdout).not.toContain(escape)
  })

  test.each([
    [
      'a mistyped flag',
      ['run', '--concurency', '4'],
      'unknown flag --concurency; did you mean --concurrency?     (exit 2; nothing was sent)\n',
    ],
    ['a mistyped verb', ['swep'], 'unknown verb swep; did you mean sweep?     (exit 2; nothing was sent)\n'],
  ])('%s: exit 2, one line on stderr, nothing on stdout', async (_, args, stderr) => {
    expect(await plimsoll(args)).toEqual({ code: 2, stdout: '', stderr })
  })

  test('init writes a file that is not written over', async () => {
    expect(await plimsoll(['init', 'a.yaml'])).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toContain('yaml-language-server')
    writeFileSync(join(folder, 'a.yaml'), 'mine')
    const again = await plimsoll(['init', 'a.yaml'])
    expect(again).toMatchObject({ code: 2, stdout: '' })
    expect(again.stderr).toContain('--force')
    expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('mine')
    expect(await plimsoll(['init', 'a.yaml', '--force'])).toMatchObject({ code: 0 })
  })

  test('a mistake in plimsoll.yaml is told with file, line and column', async () => {
    writeFileSync(join(folder, 'b.yaml'), 'target:\n  ulr: x\n')
    const { code, stderr } = await plimsoll(['run', '--config', 'b.yaml'])
    expect(code).toBe(2)
    expect(stderr).toContain('at b.yaml:2:3')
    expect(stderr).toContain('did you mean url?')
  })

  test('a reader that goes away is no error', async () => {
    const child = spawn(process.execPath, [main, 'run', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe('the schemas', () => {
  test('are those that the source makes', async () => {
    const script = fileURLToPath(new URL('../scripts/schema.mjs', import.meta.url))
    const ended = await new Promise<Ended>((resolve) => {
      execFile(process.execPath, [script, '--check'], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, stdout, stderr })
      })
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
  })
})
