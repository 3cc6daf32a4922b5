import { PlimsollError } from '../base/errors.ts'
import { openFileLimit } from '../base/open-file-limit.ts'
import { systemError, systemHelp } from '../base/system-errors.ts'
import type { FlowDeps } from '../flows/flow-deps.ts'
import { lazyFlows } from './flows.ts'
import { wrapProse } from '../report/wrap-prose.ts'
import type { CliContext, FileSink, FlowVoice, OutputStream } from './verb.ts'

/** The part of `process` that plimsoll uses. */
type OwnProcess = Pick<
  NodeJS.Process,
  'stdout' | 'stderr' | 'stdin' | 'env' | 'cwd' | 'cpuUsage' | 'hrtime' | 'version'
>

export interface ProcessContext {
  readonly cli: CliContext
  /** What to say when a first Ctrl-C ends a flow in order; null: nothing runs that could be ended so. */
  readonly stopping: () => string | null
  /** Where what was measured lies; null: nowhere yet. */
  readonly folder: () => string | null
}

/** The surroundings of a verb, made from the process. Nothing is loaded before it is used. */
export function processContext(own: OwnProcess, version: string, signal: AbortSignal): ProcessContext {
  let stopping: string | null = null
  let folder: string | null = null
  const stderr = outputStream(own.stderr, own.env)
  const canAsk = own.stdin.isTTY && own.stderr.isTTY
  const cli: CliContext = {
    stdout: outputStream(own.stdout, own.env),
    stderr,
    env: (name) => own.env[name],
    cwd: own.cwd(),
    version,
    async flowDeps(voice) {
      const { stopping: said = '', ...rest } = voice
      const deps = await flowDeps(own, version, signal, rest)
      stopping = said
      const onFolder = (path: string): void => {
        // A part of what can be read as a whole already.
        if (folder === null || !path.startsWith(`${folder}/`)) folder = path
      }
      return { ...deps, onFolder }
    },
    flows: lazyFlows,
    ask: canAsk ? (question) => ask(own, question, signal) : null,
    openFile,
    checkWritable,
    readFile,
    newestRun,
  }
  return { cli, stopping: () => stopping, folder: () => folder }
}

function outputStream(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): OutputStream {
  const isTerminal = stream.isTTY
  const forced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '' && env['FORCE_COLOR'] !== '0'
  const refused = (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') || env['TERM'] === 'dumb'
  return {
    write(text) {
      stream.write(text)
    },
    say(text) {
      stream.write(isTerminal ? wrapProse(text, stream.columns ?? 100) : text)
    },
    async writeAll(text) {
      if (!stream.write(text)) await new Promise<void>((resolve) => stream.once('drain', () => resolve()))
    },
    isTerminal,
    color: forced || (isTerminal && !refused),
    get columns() {
      return isTerminal ? (stream.columns ?? 100) : 100
    },
  }
}

async function flowDeps(
  own: OwnProcess,
  version: string,
  signal: AbortSignal,
  voice: FlowVoice,
): Promise<FlowDeps> {
  const [os, { randomBytes }, { monotonicClock }] = await Promise.all([
    import('node:os'),
    import('node:crypto'),
    import('../base/clock.ts'),
  ])
  const cpus = os.cpus()
  return {
    clock: monotonicClock(performance, () => own.hrtime.bigint()),
    wallClock: () => Date.now(),
    freshSalt: () => randomBytes(8).toString('hex'),
    signal,
    env: (name) => own.env[name],
    cwd: own.cwd(),
    files: { readText },
    // Whoever calls a verb collects these; without anyone to tell it the work ends.
    onFolder: () => undefined,
    onUnsaved(error) {
      throw error
    },
    ...voice,
    machine: {
      hostname: os.hostname(),
      platform: `${os.platform()} ${os.release()} ${os.arch()}`,
      node: own.version,
      cores: os.availableParallelism(),
      cpu: cpus[0]?.model ?? 'unknown',
      memoryBytes: os.totalmem(),
      openFiles: openFileLimit(await readText('/proc/self/limits').catch(() => '')),
      addresses: Object.values(os.networkInterfaces()).flatMap(
        (list) => list?.map(({ address }) => address) ?? [],
      ),
      cpuTimes() {
        let busyMs = 0
        let totalMs = 0
        for (const { times } of os.cpus()) {
          const total = times.user + times.nice + times.sys + times.idle + times.irq
          totalMs += total
          busyMs += total - times.idle
        }
        return { busyMs, totalMs }
      },
      processCpuMs() {
        const { user, system } = own.cpuUsage()
        return (user + system) / 1000
      },
    },
    version,
  }
}

async function ask(own: OwnProcess, question: string, signal: AbortSignal): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface({ input: own.stdin, output: own.stderr })
  try {
    return /^(y(es)?)?$/i.test((await reader.question(question, { signal })).trim())
  } catch {
    return false
  } finally {
    reader.close()
  }
}

async function readFile(path: string): Promise<string | null> {
  const { readFile: read } = await import('node:fs/promises')
  try {
    return await read(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    const hint = systemHelp(cause)
    throw new PlimsollError('PLIM_FILE', `${path} cannot be read`, {
      received: (cause as Error).message,
      ...(hint !== null && { hint }),
      cause,
    })
  }
}

/** A file that the flow cannot do without. */
async function readText(path: string): Promise<string> {
  const content = await readFile(path)
  if (content === null) throw new PlimsollError('PLIM_FILE', `there is no ${path}`)
  return content
}

const runFiles: readonly string[] = ['sweep.json', 'run.json', 'journal.ndjson']
/** What `show` reads besides. */
const shownFiles: readonly string[] = [...runFiles, 'find.json', 'experiment.json', 'watch.json']

async function newestRun(runsDir: string, kinds: 'runs' | 'shown' = 'runs'): Promise<string | null> {
  const files = kinds === 'runs' ? runFiles : shownFiles
  const { readdir, stat } = await import('node:fs/promises')
  let newest: { readonly path: string; readonly atMs: number } | null = null
  for (const name of await readdir(runsDir).catch((): string[] => [])) {
    const path = `${runsDir}/${name}`
    const holds = await readdir(path).catch((): string[] => [])
    if (!holds.some((file) => files.includes(file))) continue
    const { mtimeMs } = await stat(path)
    if (newest === null || mtimeMs > newest.atMs) newest = { path, atMs: mtimeMs }
  }
  return newest?.path ?? null
}

async function openFile(path: string, { overwrite }: { readonly overwrite: boolean }): Promise<FileSink> {
  const { open } = await import('node:fs/promises')
  try {
    const handle = await open(path, overwrite ? 'w' : 'wx')
    return {
      async write(piece) {
        await handle.writeFile(piece).catch((cause: unknown) => {
          throw cannotBeWritten(path, cause)
        })
      },
      close: () => handle.close(),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new PlimsollError('PLIM_FILE', `${path} is there already`, { hint: '--force writes over it' })
    }
    throw cannotBeWritten(path, cause)
  }
}

async function checkWritable(path: string): Promise<void> {
  const [{ access, constants, stat }, { dirname }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
  ])
  try {
    const found = await stat(path).catch(() => null)
    if (found?.isDirectory() === true) throw Object.assign(new Error(`EISDIR: ${path}`), { code: 'EISDIR' })
    await access(found === null ? dirname(path) : path, constants.W_OK)
  } catch (cause) {
    throw cannotBeWritten(path, cause)
  }
}

function cannotBeWritten(path: string, cause: unknown): PlimsollError {
  if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
    return new PlimsollError('PLIM_FILE', `${path} cannot be written`, {
      received: (cause as Error).message,
      hint: 'its folder is not there: make it first, or give another place',
      cause,
    })
  }
  return (
    systemError(cause, path) ??
    new PlimsollError('PLIM_FILE', `${path} cannot be written`, { received: (cause as Error).message, cause })
  )
}
