/** What a run wants to know of its machine. Cumulative times; the caller takes differences. */
export interface Host {
  readonly cores: number
  /** CPU time of this process so far, ms over all cores. */
  processCpuMs(): number
  /** Busy and total time of all cores so far, in the same unit; null where the machine does not tell. */
  machineTimes(): { readonly busy: number; readonly total: number } | null
  /** Addresses of this machine's interfaces. */
  localAddresses(): readonly string[]
  /** The addresses behind a name; empty when it does not resolve. */
  resolve(hostname: string): Promise<readonly string[]>
}

interface HostSources {
  readonly os: {
    availableParallelism(): number
    cpus(): readonly { times: { user: number; nice: number; sys: number; idle: number; irq: number } }[]
    networkInterfaces(): Record<string, { address: string }[] | undefined>
  }
  readonly cpuUsage: () => { user: number; system: number }
  readonly lookup: (
    hostname: string,
    options: { all: true },
  ) => Promise<readonly { readonly address: string }[]>
}

/** The machine through `node:os`, `process.cpuUsage` and `node:dns/promises`' lookup, which the edge hands in. */
export function systemHost({ os, cpuUsage, lookup }: HostSources): Host {
  return {
    cores: os.availableParallelism(),
    processCpuMs() {
      const { user, system } = cpuUsage()
      return (user + system) / 1000
    },
    machineTimes() {
      let busy = 0
      let idle = 0
      for (const { times } of os.cpus()) {
        busy += times.user + times.nice + times.sys + times.irq
        idle += times.idle
      }
      return busy + idle > 0 ? { busy, total: busy + idle } : null
    },
    localAddresses: () =>
      Object.values(os.networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address)),
    async resolve(hostname) {
      try {
        return (await lookup(hostname, { all: true })).map((entry) => entry.address)
      } catch {
        return []
      }
    },
  }
}

/** Whether `url` names this machine: loopback, or an address of one of its interfaces. */
export async function isSameMachine(host: Host, url: URL): Promise<boolean> {
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const local = new Set(host.localAddresses())
  const addresses = [name, ...(await host.resolve(name))]
  return addresses.some((address) => local.has(address) || /^(127\.|::1$|::ffff:127\.)/.test(address))
}
