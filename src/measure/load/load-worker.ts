import type { Transferable } from 'node:worker_threads'
import { entryPath } from '../../base/entry.ts'
import { PlimsollError } from '../../base/errors.ts'
import { startRoomyThread } from '../../base/roomy-thread.ts'
import type { FromWorker, ToWorker } from './thread-messages.ts'

/** The main thread's end of one load thread. */
export interface LoadWorker {
  readonly dead: boolean
  /** Kills the thread, as an operating system would; tests use it. */
  kill(): Promise<void>
  send(message: ToWorker, transfer?: readonly Transferable[]): void
  /** Whoever uses the thread now. Messages and the death of the thread go to the last one set. */
  listen(listener: WorkerListener): void
  /** The next message of this kind. Rejects on an error or the death of the thread. */
  reply<K extends FromWorker['kind']>(kind: K): Promise<Extract<FromWorker, { kind: K }>>
}

export interface WorkerListener {
  onMessage(message: FromWorker): void
  onDeath(reason: string): void
}

/** At 20,000 events a second a thread makes 24 MB of garbage a second: it is collected once in some seconds. */
const semiSpaceMib = 64

/** Starts one thread; resolved once it listens. */
export async function startLoadWorker(clockOriginNs: bigint): Promise<LoadWorker> {
  const path = entryPath('./load-thread.ts', import.meta.url)
  const thread = startRoomyThread(path, { clockOriginNs }, semiSpaceMib)
  let listener: WorkerListener = silent
  let dead = false
  let reason = 'it exited'
  thread.on('message', (message: FromWorker) => listener.onMessage(message))
  thread.on('error', (error) => {
    reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
  })
  thread.on('exit', () => {
    dead = true
    listener.onDeath(reason)
  })
  const worker: LoadWorker = {
    get dead() {
      return dead
    },
    async kill() {
      await thread.terminate()
    },
    send: (message, transfer = []) => thread.postMessage(message, [...transfer]),
    listen(next) {
      listener = next
    },
    reply(kind) {
      return new Promise((resolve, reject) => {
        if (dead) return reject(deathError(reason))
        listener = {
          onMessage(message) {
            if (message.kind === 'error') {
              const { error } = message
              reject(new PlimsollError(error.code, error.message, error))
            } else if (message.kind === kind) resolve(message as Extract<FromWorker, { kind: typeof kind }>)
          },
          onDeath: (why) => reject(deathError(why)),
        }
      })
    },
  }
  await worker.reply('online')
  return worker
}

const silent: WorkerListener = { onMessage: () => undefined, onDeath: () => undefined }

/** What of a thread's death a person can act on; null for any other. */
export function deathHelp(reason: string): string | null {
  return /\bE[MN]FILE\b/.test(reason)
    ? 'its connections used up the files that may be open: a lower --concurrency or --max-connections, or a higher ulimit -n'
    : null
}

function deathError(reason: string): PlimsollError {
  const help = deathHelp(reason)
  return new PlimsollError(help === null ? 'PLIM_INTERNAL' : 'PLIM_CONNECT', 'a load thread died', {
    received: reason,
    ...(help === null ? {} : { hint: help }),
  })
}
