import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { entryPath } from '../../src/base/entry.ts'
import { spawnEngineProcess } from '../../src/simulate/engine/server/engine-child.ts'
import { readEngineSettings } from '../../src/simulate/engine/server/engine-settings.ts'

const truthFile = async (): Promise<string> =>
  join(await mkdtemp(join(tmpdir(), 'plimsoll-')), 'truth.ndjson')
const childModule = entryPath(
  '../../src/simulate/engine/server/engine-child.ts',
  // As seen from src/, so that it leads to dist/.
  new URL('../../src/x/x.ts', import.meta.url).href,
)
const alive = (pid: number): boolean => existsSync(`/proc/${pid}/stat`)

/** Runs from dist/: build first. */
describe('the engine in its own process', () => {
  it('answers, writes the truth of what was cut off by its end, and ends', async () => {
    const truth = await truthFile()
    const child = await spawnEngineProcess(readEngineSettings({ port: '0', truth }))
    const response = await fetch(`${child.url}/v1/completions`, {
      method: 'POST',
      headers: { 'x-request-id': 'long' },
      body: JSON.stringify({ prompt: 'a', max_tokens: 1000, ignore_eos: true, stream: true }),
    })
    await response.body?.getReader().read()
    await child.stop()
    expect(alive(child.pid)).toBe(false)
    const lines = readFileSync(truth, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ id: 'long', outcome: 'closed' }])
  })

  it('hands its error to who started it', async () => {
    const first = await spawnEngineProcess(readEngineSettings({ port: '0' }))
    const { port } = new URL(first.url)
    await expect(spawnEngineProcess(readEngineSettings({ port }))).rejects.toMatchObject({
      code: 'PLIM_ENGINE',
      received: 'the port is taken',
    })
    await first.stop()
    const truth = '/no/such/folder/truth.ndjson'
    await expect(spawnEngineProcess(readEngineSettings({ port: '0', truth }))).rejects.toMatchObject({
      code: 'PLIM_FILE',
    })
  })

  it('says when it ended by itself', async () => {
    const child = await spawnEngineProcess(readEngineSettings({ port: '0' }))
    process.kill(child.pid, 'SIGKILL')
    expect(await child.died).toMatchObject({ code: 'PLIM_ENGINE', received: 'exit SIGKILL' })
    await child.stop()
  })

  it('ends with the process that started it, even one that was killed', async () => {
    const settings = JSON.stringify(readEngineSettings({ port: '0' }))
    const parent = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { spawnEngineProcess } from ${JSON.stringify(childModule)}
         const child = await spawnEngineProcess(${settings})
         console.log(child.pid)
         setInterval(() => {}, 1000)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const pid = await new Promise<number>((resolve) => {
      createInterface({ input: parent.stdout }).once('line', (line) => resolve(Number(line)))
    })
    expect(alive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => alive(pid), { timeout: 5000 }).toBe(false)
  })
})
