import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { closeSync, openSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Starts a server on a free loopback port and waits until its `ready` path answers 200. `args` gets the port. Returns
 * `{url, stop()}`; throws with the end of its log where it does not come up.
 */
export async function startServer({ command, args, env = {}, log, ready = '/health', patienceMs }) {
  const port = await freePort()
  const out = openSync(log, 'w')
  const child = spawn(command, args(port), {
    env: { ...process.env, ...env },
    stdio: ['ignore', out, out],
    // A group of its own: vLLM's engine is a child of its front end, and both have to go.
    detached: true,
  })
  closeSync(out)
  const state = { over: false }
  const ended = new Promise((resolve) => {
    const done = () => {
      state.over = true
      resolve()
    }
    child.on('exit', done)
    child.on('error', done)
  })
  const stop = async () => {
    signalGroup(child.pid, 'SIGTERM')
    await Promise.race([ended, wait(15_000)])
    signalGroup(child.pid, 'SIGKILL')
  }
  process.once('exit', () => signalGroup(child.pid, 'SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const until = Date.now() + patienceMs
  while (!state.over && Date.now() < until) {
    if (await answers(url + ready)) return { url, stop }
    await wait(100)
  }
  await stop()
  const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
  throw new Error(
    `${command} ${state.over ? 'ended before it answered' : 'did not answer in time'}:\n${tail}`,
  )
}

async function answers(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) })
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}

function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // It is gone already.
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
