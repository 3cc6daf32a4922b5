import { readEngineFacts } from '../../measure/load/metrics-scrape.ts'
import type { MetricFamily, Sample, Scrape } from '../../measure/wire/prometheus-text.ts'

/** Labels by which a Prometheus server tells replicas apart, the first that is there. */
const instanceLabels = ['pod', 'instance'] as const
/** Labels that it puts on beside: of no meaning to an engine. */
const serverLabels: ReadonlySet<string> = new Set([
  'job',
  'pod',
  'instance',
  'namespace',
  'container',
  'endpoint',
  'service',
])

/**
 * A page of a Prometheus server (`/federate`) as one page for each replica: the labels that the server put on are taken off again, so
 * that each reads as the engine wrote it. Series without a replica belong to none.
 */
export function splitByInstance(scrape: Scrape): ReadonlyMap<string, Scrape> {
  const pages = new Map<string, Map<string, { readonly family: MetricFamily; readonly samples: Sample[] }>>()
  for (const family of scrape.families) {
    for (const sample of family.samples) {
      const replica = instanceLabels.map((name) => sample.labels[name]).find((value) => value !== undefined)
      if (replica === undefined) continue
      let page = pages.get(replica)
      if (page === undefined) pages.set(replica, (page = new Map()))
      let mine = page.get(family.name)
      if (mine === undefined) page.set(family.name, (mine = { family, samples: [] }))
      const labels = Object.entries(sample.labels).filter(([name]) => !serverLabels.has(name))
      mine.samples.push({ ...sample, labels: Object.fromEntries(labels) })
    }
  }
  return new Map(
    [...pages].map(([replica, page]) => [
      replica,
      {
        openMetrics: scrape.openMetrics,
        families: [...page.values()].map(({ family, samples }) => ({ ...family, samples })),
        problems: [],
      },
    ]),
  )
}

/** The queries of a federation: everything that an engine or its machine exports, and the answers of its API. */
export const federatedMatches: readonly string[] = [
  '{__name__=~"vllm:.*|sglang:.*|tgi_.*|trtllm_.*|dynamo_.*|llamacpp:.*|node_cpu_seconds_total|DCGM_FI_DEV_.*"}',
  'http_requests_total{handler=~"/v1/(chat/)?completions"}',
]

/**
 * The replicas among the pages of a federation: those with an engine, each with what the exporters on its host say (`a:9100` beside
 * `a:8000`). An exporter is no replica; one that stands on no replica's host is left out.
 */
export function replicaPages(pages: ReadonlyMap<string, Scrape>): ReadonlyMap<string, Scrape> {
  const isEngine = ([, page]: readonly [string, Scrape]): boolean => readEngineFacts(page).engine !== null
  const host = (name: string): string => name.replace(/:\d+$/, '')
  const beside = [...pages].filter((entry) => !isEngine(entry))
  return new Map(
    [...pages].filter(isEngine).map(([name, page]) => {
      const own = beside.filter(([other]) => host(other) === host(name)).map(([, found]) => found)
      return [name, joinPages(page, own) ?? page]
    }),
  )
}

/** Pages of one replica as one: an engine's, and those of the exporters beside it. Null where the engine's own is missing. */
export function joinPages(engine: Scrape | null, beside: readonly (Scrape | null)[]): Scrape | null {
  if (engine === null) return null
  return { ...engine, families: [...engine.families, ...beside.flatMap((page) => page?.families ?? [])] }
}
