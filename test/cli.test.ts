import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunDocument } from '../src/report/documents.ts'
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

describe('a run of the embedded engine', () => {
  const small = [
    'run',
    '--request-rate',
    '40',
    '--num-prompts',
    '40',
    '--output',
    '8',
    '--prompt',
    '64',
    '--quiet',
    '--json',
  ]

  test.each([
    ['no objective', [], 0],
    ['an objective that no server could keep', ['--slo', 'ttft < 1us'], 3],
    ["vLLM's goodput, which never fails a run", ['--goodput', 'ttft:0.001'], 0],
  ])('%s', async (_, more, code) => {
    const ended = await plimsoll([...small, ...more])
    expect(ended.stderr).toBe('')
    const document = JSON.parse(ended.stdout) as RunDocument
    // On a machine that is busy enough the measurement is invalid, and then the exit code has to say so.
    expect(ended.code).toBe(document.verdict.status === 'INVALID' ? 5 : code)
    const { planned, ok, failed, shed, censored, unsent } = document.counts
    expect(planned).toBe(40)
    expect(ok + failed + shed + censored + unsent).toBe(planned)
  })

  test('nothing succeeds: the measurement is invalid, and says why it ended early', async () => {
    const args = [
      'run',
      '--request-rate',
      '40',
      '--duration',
      '20s',
      '--output',
      '8',
      '--prompt',
      '64',
      '--quiet',
      '--json',
    ]
    const { code, stdout } = await plimsoll([...args, '--fault', '503 100% at 1s'])
    expect(code).toBe(5)
    const document = JSON.parse(stdout) as RunDocument
    expect(document.verdict.status).toBe('INVALID')
    expect(document.stopped?.kind).toBe('early')
  })

  test.each<[string, string, readonly number[], RegExp]>([
    [
      'stdout on a full disk',
      'calc tpot 2.3s 0.3s 401 > /dev/full',
      [2],
      /^PLIM_FILE .*\n.*ENOSPC.*\n.*disk is full/,
    ],
    ['a reader that goes away', 'calc | head -1', [0], /^$/],
    [
      'nobody who reads the progress',
      'run -r 40 -n 40 --output 8 --prompt 64 --json 2> >(true) | tail -c 3',
      // 5 on a machine so busy that the measurement is invalid.
      [0, 5],
      /^$/,
    ],
  ])('%s is no fault of plimsoll', async (_, line, codes, told) => {
    const found = await new Promise<Ended>((resolve) => {
      const command = `set -o pipefail; ${process.execPath} ${main} ${line}`
      execFile('bash', ['-c', command], { cwd: folder }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr })
      })
    })
    expect(codes).toContain(found.code)
    expect(found.stderr).toMatch(told)
  })

  test('nothing answers: exit 2 and a sentence', async () => {
    const { code, stdout, stderr } = await plimsoll([...small, '--url', 'http://127.0.0.1:9'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('PLIM_CONNECT')
  })

  /** A long run that gets Ctrl-C once it measures. */
  function interrupted(times: number): Promise<Ended> {
    const args = [main, 'run', '--request-rate', '20', '--duration', '10m', '--output', '8', '--json']
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    let sent = 0
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      if (sent === 0 && /\d of 12,000|measuring/.test(stderr)) {
        sent++
        setTimeout(() => child.kill('SIGINT'), 1500)
      } else if (sent < times && stderr.includes('stopping')) {
        sent++
        child.kill('SIGINT')
      }
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
  }

  test('Ctrl-C once keeps what was measured', async () => {
    const { code, stdout, stderr } = await interrupted(1)
    expect(stderr).toContain('stopping: no more is sent')
    expect(code).toBe(130)
    const document = JSON.parse(stdout) as RunDocument
    expect(document.stopped?.kind).toBe('interrupted')
    expect(document.counts.ok).toBeGreaterThan(0)
  })

  test('Ctrl-C twice ends at once', async () => {
    const { code, stdout } = await interrupted(2)
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
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
