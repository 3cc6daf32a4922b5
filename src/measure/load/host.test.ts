import { expect, it } from 'vitest'
import { isSameMachine, systemHost } from './host.ts'

const host = systemHost({
  os: {
    availableParallelism: () => 4,
    cpus: () => [
      { times: { user: 30, nice: 0, sys: 10, idle: 60, irq: 0 } },
      { times: { user: 10, nice: 5, sys: 5, idle: 80, irq: 0 } },
    ],
    networkInterfaces: () => ({ lo: [{ address: '127.0.0.1' }], eth0: [{ address: '10.1.2.3' }] }),
  },
  cpuUsage: () => ({ user: 1_500_000, system: 500_000 }),
  lookup: (name) => {
    const known: Record<string, string> = { localhost: '127.0.0.1', here: '10.1.2.3', there: '10.9.9.9' }
    const address = known[name]
    return address === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve([{ address }])
  },
})

it('sums CPU over the cores', () => {
  expect(host.processCpuMs()).toBe(2000)
  expect(host.machineTimes()).toEqual({ busy: 60, total: 200 })
})

it.each([
  ['loopback by name', 'http://localhost:8000', true],
  ['any address of 127/8', 'http://127.1.2.3:8000', true],
  ['IPv6 loopback', 'http://[::1]:8000', true],
  ['an address of an interface', 'http://10.1.2.3:8000', true],
  ['a name of an interface', 'http://here:8000', true],
  ['another machine', 'http://there:8000', false],
  ['a name that does not resolve', 'http://nowhere:8000', false],
])('%s', async (_, url, same) => expect(await isSameMachine(host, new URL(url))).toBe(same))
