import { readEngineFacts, type EngineFacts } from '../measure/load/metrics-scrape.ts'
import { isFailure } from '../measure/load/probe.ts'
import { parsePrometheusText, type Scrape } from '../measure/wire/prometheus-text.ts'
import { parseAddress } from '../measure/wire/target-url.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openAsker, type Asker } from './send-once.ts'

/** The pages of metrics of a deployment: one a replica. */
export interface EngineMetrics {
  /** The facts of each page, null where it could not be read just now. */
  scrape(): Promise<readonly (EngineFacts | null)[]>
  /** The pages themselves, by name; null where one could not be read just now. */
  pages(): Promise<readonly NamedPage[]>
  close(): Promise<void>
}

export interface NamedPage {
  readonly name: string
  readonly scrape: Scrape | null
  /** From asking to the last byte, ms. */
  readonly tookMs: number
}

interface Page {
  readonly name: string
  readonly asker: Asker
  readonly path: string
  readonly owned: boolean
}

/**
 * Reads the pages at `urls`, or the one beside the endpoint where none is named. A page that does not answer is null: a load test
 * goes on without it.
 */
export async function openMetrics(
  urls: readonly string[],
  beside: { readonly asker: Asker; readonly path: string } | null,
  deps: FlowDeps,
): Promise<EngineMetrics> {
  const pages: Page[] = []
  for (const text of urls) {
    const url = parseAddress(text)
    const asker = await openAsker(url, {
      clock: deps.clock,
      api: 'chat',
      headers: {},
      tls: {},
      timeoutMs: 5000,
    })
    const path = url.pathname === '/' ? '/metrics' : url.pathname
    pages.push({ name: url.host, asker, path: path + url.search, owned: true })
  }
  if (urls.length === 0 && beside !== null) pages.push({ ...beside, name: 'server', owned: false })
  return {
    scrape: () => Promise.all(pages.map(async (page) => factsOf(await scrapePage(page)))),
    pages: () =>
      Promise.all(
        pages.map(async (page) => {
          const askedMs = deps.clock.nowMs()
          const scrape = await scrapePage(page)
          return { name: page.name, scrape, tookMs: deps.clock.nowMs() - askedMs }
        }),
      ),
    async close() {
      await Promise.all(pages.filter(({ owned }) => owned).map(({ asker }) => asker.close()))
    },
  }
}

async function scrapePage({ asker, path }: Page): Promise<Scrape | null> {
  const answer = await asker.sendOnce({ method: 'GET', path, body: null, stream: false })
  if (isFailure(answer) || answer.status !== 200) return null
  try {
    const contentType = answer.header('content-type')
    return parsePrometheusText(answer.bodyText, contentType === undefined ? {} : { contentType })
  } catch {
    // Some other page: as good as none.
    return null
  }
}

function factsOf(scrape: Scrape | null): EngineFacts | null {
  return scrape === null ? null : readEngineFacts(scrape)
}

/** Whether nothing runs or waits on any page; null where no page tells. */
export function isIdle(facts: readonly (EngineFacts | null)[]): boolean | null {
  const known = facts.filter((each) => each !== null && each.running !== null)
  if (known.length === 0) return null
  return known.every((each) => (each?.running ?? 0) === 0 && (each?.waiting ?? 0) === 0)
}
