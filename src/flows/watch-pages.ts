import { PlimsollError } from '../base/errors.ts'
import { errorText, isFailure, type ProbeAnswer } from '../measure/load/probe.ts'
import { parsePrometheusText, type Scrape } from '../measure/wire/prometheus-text.ts'
import { federatedMatches, joinPages, replicaPages, splitByInstance } from '../operate/watch/by-instance.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openPlainAsker } from './plain-asker.ts'

/** Where the pages of a fleet are read. */
export interface PageSource {
  /** A page for each replica; null where it could not be read. */
  look(): Promise<ReadonlyMap<string, Scrape | null>>
  /** What the last look did not get, of each page of an engine or of the Prometheus that could not be read. */
  missed(): readonly MissedPage[]
  close(): Promise<void>
}

export interface PageAddresses {
  /** Of engines: their own address or that of their metrics. */
  readonly urls: readonly string[]
  /** Of the exporters beside them (node-exporter, DCGM), in the order of the engines; the same for all where there is one. */
  readonly machineUrls: readonly string[]
  /** Of a Prometheus server instead. */
  readonly prometheusUrl: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** A page that was asked for, and what came instead: "connect ECONNREFUSED 127.0.0.1:1", "HTTP 404", "a web page". */
export interface MissedPage {
  readonly kind: 'no_answer' | 'no_metrics'
  readonly url: string
  readonly why: string
}

interface Page {
  readonly name: string
  read(): Promise<Scrape | null>
  /** Of the last read; null where it came. */
  missed(): MissedPage | null
  close(): Promise<void>
}

/** @throws PlimsollError PLIM_USAGE for no address, PLIM_URL for one that is none. */
export async function openPages(addresses: PageAddresses, deps: FlowDeps): Promise<PageSource> {
  const { urls, machineUrls, prometheusUrl, headers } = addresses
  if (prometheusUrl !== null) {
    const page = await openPage(
      prometheusUrl,
      `/federate?${federatedMatches.map((match) => `match[]=${encodeURIComponent(match)}`).join('&')}`,
      headers,
      deps,
    )
    const seen = new Set<string>()
    return {
      async look() {
        const scrape = await page.read()
        const pages = new Map<string, Scrape | null>(
          scrape === null ? [] : replicaPages(splitByInstance(scrape)),
        )
        for (const name of seen) if (!pages.has(name)) pages.set(name, null)
        for (const name of pages.keys()) seen.add(name)
        return pages
      },
      missed: () => missedOf([page]),
      close: () => page.close(),
    }
  }
  if (urls.length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'there is nothing to watch', {
      expected: '--url http://localhost:8000, or --prometheus http://localhost:9090',
    })
  }
  const engines = await Promise.all(urls.map((url) => openPage(url, '/metrics', headers, deps)))
  const machines = await Promise.all(machineUrls.map((url) => openPage(url, '/metrics', {}, deps)))
  return {
    async look() {
      const [pages, beside] = await Promise.all([
        Promise.all(engines.map((page) => page.read())),
        Promise.all(machines.map((page) => page.read())),
      ])
      return new Map(
        engines.map(({ name }, at) => {
          const own = machines.length === engines.length ? [beside[at] ?? null] : beside
          return [name, joinPages(pages[at] ?? null, own)] as const
        }),
      )
    },
    missed: () => missedOf(engines),
    async close() {
      await Promise.all([...engines, ...machines].map((page) => page.close()))
    },
  }
}

function missedOf(pages: readonly Page[]): readonly MissedPage[] {
  return pages.map((page) => page.missed()).filter((missed) => missed !== null)
}

async function openPage(
  address: string,
  fallbackPath: string,
  headers: Readonly<Record<string, string>>,
  deps: FlowDeps,
): Promise<Page> {
  const { url, asker } = await openPlainAsker(address, { clock: deps.clock, headers, timeoutMs: 5000 })
  // An engine's own address, with or without /v1, has its metrics at the root.
  const bare = url.pathname === '/' || /\/v1\/?$/.test(url.pathname)
  const path = bare ? fallbackPath : url.pathname + url.search
  const place = url.origin + path
  let missing: MissedPage | null = null
  return {
    name: url.host,
    missed: () => missing,
    async read() {
      const answer = await asker.sendOnce({ method: 'GET', path, body: null, stream: false })
      missing = null
      if (isFailure(answer)) {
        missing = { kind: 'no_answer', url: place, why: answer.failure.message }
        return null
      }
      const instead = insteadOfMetrics(answer)
      if (instead !== null) {
        missing = { kind: 'no_metrics', url: place, why: instead }
        return null
      }
      const contentType = answer.header('content-type')
      try {
        return parsePrometheusText(answer.bodyText, contentType === undefined ? {} : { contentType })
      } catch {
        missing = { kind: 'no_metrics', url: place, why: 'a page of something else' }
        return null
      }
    },
    close: () => asker.close(),
  }
}

/** What an answer is that holds no metrics for sure, in a few words; null: it has to be read. */
function insteadOfMetrics({ status, bodyText }: ProbeAnswer): string | null {
  const isWebPage = /^\s*<(!doctype|html)/i.test(bodyText)
  if (status === 200) return isWebPage ? 'a web page' : null
  const said = isWebPage ? 'a web page' : errorText(bodyText)
  return said === null ? `HTTP ${status}` : `HTTP ${status}: ${said}`
}
