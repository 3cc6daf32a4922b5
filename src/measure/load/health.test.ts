import { expect, test } from 'vitest'
import { healthWatch } from './health.ts'
import type { Host } from './host.ts'
import { liveSketch } from './live-sketch.ts'

const host: Host = {
  cores: 2,
  processCpuMs: () => 0,
  machineTimes: () => null,
  localAddresses: () => [],
  resolve: () => Promise.resolve([]),
}

test.each<[string, readonly (number | null)[], number | null]>([
  ['the busiest of those that are known', [0.2, 0.7], 0.7],
  ['of a thread whose CPU cannot be read nothing is said', [0.2, null], 0.2],
  ['of none it is unknown, not 0', [null, null], null],
  ['without threads too', [], null],
])('CPU of the load threads: %s', (_, shares, busiest) => {
  const watch = healthWatch(host)
  for (const cpuShare of shares)
    watch.addWorker({ loopDelay: liveSketch().counts, loopDelayMaxMs: 1, cpuShare })
  const { cpu } = watch.result(null, shares.length, false)
  expect(cpu).toEqual({ worker_max: busiest, workers: shares, process: null, machine: null })
})
