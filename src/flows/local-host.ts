import { lookup } from 'node:dns/promises'
import type { Host } from '../measure/load/host.ts'
import type { MachineFacts } from './flow-deps.ts'

/** The machine as the load generator asks about it. */
export function localHost(machine: MachineFacts): Host {
  return {
    cores: machine.cores,
    processCpuMs: machine.processCpuMs,
    machineTimes() {
      const { busyMs, totalMs } = machine.cpuTimes()
      return totalMs > 0 ? { busy: busyMs, total: totalMs } : null
    },
    localAddresses: () => machine.addresses,
    async resolve(hostname) {
      try {
        return (await lookup(hostname, { all: true })).map((entry) => entry.address)
      } catch {
        return []
      }
    },
  }
}
