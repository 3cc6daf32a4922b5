/** The variables that name proxies, in either case of letters; the lower-case one counts where both are set, as in curl. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>

/**
 * The proxy that the environment asks for on the way to `target`, or null to go there directly. A proxy on the way to this machine
 * would measure the proxy: loopback addresses never use one. `NO_PROXY` is a comma-separated list of hosts (their subdomains
 * included), `*.suffix`, `host:port`, IPv4 networks (`10.0.0.0/8`) or `*`.
 */
export function chooseProxy(target: URL, environment: ProxyEnvironment): string | null {
  const variable = (name: string): string | null => {
    const value = environment[name.toLowerCase()] ?? environment[name] ?? ''
    return value.trim() === '' ? null : value.trim()
  }
  const proxy = variable(target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? variable('ALL_PROXY')
  if (proxy === null || isLoopback(target)) return null
  const exceptions = (variable('NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  if (exceptions.some((entry) => matches(target, entry.toLowerCase()))) return null
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

/** Whether an address is of this machine by its name alone. */
export function isLoopback(target: URL): boolean {
  const host = target.hostname.toLowerCase()
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  )
}

function matches(target: URL, entry: string): boolean {
  if (entry === '*') return true
  const host = target.hostname.toLowerCase().replace(/^\[|\]$/g, '')
  const network = /^(\d+(?:\.\d+){3})\/(\d+)$/.exec(entry)
  if (network !== null) return inNetwork(host, network[1]!, Number(network[2]))
  const named = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry)
  const port = named?.[3]
  const defaultPort = target.protocol === 'https:' ? '443' : '80'
  if (port !== undefined && port !== (target.port || defaultPort)) return false
  const name = (named?.[1] ?? named?.[2] ?? entry).replace(/^\*?\./, '')
  return host === name || host.endsWith(`.${name}`)
}

function inNetwork(host: string, network: string, bits: number): boolean {
  const address = ipv4(host)
  const base = ipv4(network)
  if (address === null || base === null || bits > 32) return false
  const size = 2 ** (32 - bits)
  return Math.floor(address / size) === Math.floor(base / size)
}

function ipv4(text: string): number | null {
  if (!/^\d+(\.\d+){3}$/.test(text)) return null
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}
