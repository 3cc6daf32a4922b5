import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { entryPath } from '../../../base/entry.ts'
import { type ErrorFacts, PlimsollError } from '../../../base/errors.ts'
import type { EngineSettings } from './engine-settings.ts'

/** The simulated server in its own process. */
export interface EngineChild {
  readonly url: string
  readonly pid: number
  /** Why and when it ended by itself; never resolves while it runs, nor after `stop`. */
  readonly died: Promise<PlimsollError>
  /** Ends it, with its truth file written out. */
  stop(): Promise<void>
}

interface ReadyLine {
  readonly url?: string
  readonly pid?: number
  readonly error?: ErrorFacts
}

/** How long it may take to end before it is killed. */
const stopMs = 3000

/**
 * Starts the simulated server and waits until it can be asked. It ends with this process, whatever ends that one. Throws what the
 * server throws: PLIM_ENGINE, PLIM_FILE.
 */
export async function spawnEngineProcess(settings: EngineSettings): Promise<EngineChild> {
  const child = spawn(
    process.execPath,
    [entryPath('./engine-process.ts', import.meta.url), JSON.stringify(settings)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0))
  })
  // Writing to a child that is gone is no error of ours: its end is told by `exited`.
  child.stdin.on('error', () => {})
  const ready = await firstLine(child, exited)
  if (ready.error !== undefined) {
    await exited
    throw new PlimsollError(ready.error.code, ready.error.message, ready.error)
  }
  let stopping = false
  const died = new Promise<PlimsollError>((resolve) => {
    void exited.then((how) => {
      if (!stopping) resolve(gone(how))
    })
  })
  return {
    url: ready.url ?? '',
    pid: ready.pid ?? 0,
    died,
    async stop() {
      stopping = true
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await exited
      clearTimeout(timer)
    },
  }
}

async function firstLine(child: ChildProcess, exited: Promise<number | string>): Promise<ReadyLine> {
  if (child.stdout === null) throw gone('it has no output')
  const lines = createInterface({ input: child.stdout })
  const line = new Promise<string>((resolve) => {
    lines.once('line', resolve)
  })
  const first = await Promise.race([
    line,
    // Its last words may still be on their way when it has gone.
    exited.then(async (how) =>
      Promise.race([line, new Promise<null>((go) => setTimeout(go, 100, null))]).then(
        (last) => last ?? gone(how),
      ),
    ),
  ])
  lines.close()
  if (typeof first !== 'string') throw first
  return JSON.parse(first) as ReadyLine
}

function gone(how: number | string): PlimsollError {
  return new PlimsollError('PLIM_ENGINE', 'the process of the embedded engine ended by itself', {
    received: `exit ${how}`,
  })
}
