import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { MachineFacts } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'

/** Files that a process holds beside the connections of a load: its threads' pipes, the journal, the libraries. */
const ownFiles = 64

/** A bound against slips, far above what helps: 4 threads a core, and 64 on any machine. Each takes memory of its own. */
function mostWorkers(cores: number): number {
  return Math.max(64, 4 * cores)
}

/**
 * Refuses what this machine cannot hold, before a server is asked: far more threads than it has cores, and more connections than
 * the process may open files. An open loop opens what it needs, and cannot be told before.
 * @param loads users of each closed loop that is to be run
 * @throws PlimsollError PLIM_USAGE
 */
export function checkClientRoom(
  { workers, maxConnections, http2 }: Pick<RunConfig, 'workers' | 'maxConnections' | 'http2'>,
  { cores, openFiles }: Pick<MachineFacts, 'cores' | 'openFiles'>,
  loads: readonly number[],
): void {
  const most = mostWorkers(cores)
  if (workers !== null && workers > most) {
    throw new PlimsollError('PLIM_USAGE', `--workers ${workers} are more threads than can help`, {
      expected: `at most ${most} on ${cores} ${noun(cores, 'core')}`,
      received: String(workers),
      hint: 'leave --workers away: one per core but one is started',
    })
  }
  const users = Math.max(0, ...loads)
  const connections = Math.min(users, maxConnections ?? Number.POSITIVE_INFINITY)
  // HTTP/2 carries many requests on one connection.
  if (openFiles === null || http2 || connections + ownFiles <= openFiles) return
  throw new PlimsollError(
    'PLIM_USAGE',
    `a closed loop of ${users} ${noun(users, 'user')} needs more open files than are allowed`,
    {
      expected: `at most ${Math.max(0, openFiles - ownFiles)}: ${openFiles} files may be open (ulimit -n), ${ownFiles} are plimsoll’s own`,
      received: `${connections} connections`,
      hint: `fewer users, or ulimit -n ${connections + ownFiles} before it where that is allowed, or several machines`,
    },
  )
}
