// The simulated server in a process of its own, so that it never shares an event loop with who measures it. Its one argument is its
// settings as JSON. It prints one line when it can be asked, {"url", "pid"} or {"error"}, and ends when its input closes:
// with the process that started it, however that one ended.
import { performance } from 'node:perf_hooks'
import { monotonicClock } from '../../../base/clock.ts'
import { errorFacts } from '../../../base/errors.ts'
import { startEngineServer } from './engine-server.ts'
import type { EngineSettings } from './engine-settings.ts'

const hrtimeNs = (): bigint => process.hrtime.bigint()

try {
  const settings = JSON.parse(process.argv[2] ?? '{}') as EngineSettings
  const clock = monotonicClock(performance, hrtimeNs)
  const server = await startEngineServer({ ...settings, clock, hrtimeNs, wallClockMs: () => Date.now() })
  const stop = (): void => {
    void server.close().finally(() => process.exit(0))
  }
  process.stdin.on('end', stop).on('error', stop).resume()
  process.on('SIGTERM', stop)
  // Ctrl-C and a terminal that is closed reach the whole group; who started this process still wants its answers drained.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: errorFacts(error) })}\n`)
  process.exit(1)
}
