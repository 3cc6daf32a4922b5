import { PlimsollError } from '../base/errors.ts'
import { isFailure, type SendOnce } from '../measure/load/probe.ts'
import { parsePrometheusText } from '../measure/wire/prometheus-text.ts'
import { catalogues } from '../operate/catalogue/engines.ts'
import type { EngineId } from '../operate/catalogue/catalogue.ts'
import type { KnownSeries } from '../operate/doctor/check-query.ts'
import {
  answerFindings,
  comparePage,
  detectEngine,
  examineUses,
  liveSeries,
  type ExaminedUse,
} from '../operate/doctor/examine.ts'
import { selectorsOf, selectorText } from '../operate/doctor/promql.ts'
import { readMetricUses, recordsOf } from '../operate/doctor/read-uses.ts'
import type { DoctorEngineFacts, DoctorFacts } from '../report/doctor-documents.ts'
import type { FlowDeps } from './flow-deps.ts'
import { openPlainAsker } from './plain-asker.ts'
import { openPrometheus, type PrometheusServer } from './slo-prometheus.ts'

export interface DoctorConfig {
  readonly url: string | null
  readonly prometheus: string | null
  readonly engine: EngineId | null
  readonly files: readonly { readonly path: string; readonly text: string }[]
}

/** Checks what files ask of an engine. Throws PLIM_CONNECT and PLIM_PROMETHEUS for servers that do not answer as such. */
export async function doctorFlow(config: DoctorConfig, deps: Pick<FlowDeps, 'clock'>): Promise<DoctorFacts> {
  const seen = config.url === null ? null : await lookAtEngine(config.url, deps)
  const known: KnownSeries = { engine: config.engine ?? null, live: seen?.live ?? null }
  const records = config.files.flatMap(({ text }) => recordsOf(text))
  const files = config.files.map(({ path, text }) => ({
    path,
    uses: examineUses(readMetricUses(text, path), known, records),
  }))
  if (config.prometheus === null) return { engine: seen?.engine ?? null, prometheus: null, files }
  const server = await openPrometheus(config.prometheus, deps)
  try {
    const asked: DoctorFacts['files'][number][] = []
    for (const { path, uses } of files) asked.push({ path, uses: await askServer(uses, server, records) })
    return { engine: seen?.engine ?? null, prometheus: config.prometheus, files: asked }
  } finally {
    await server.close()
  }
}

/** Queries with a template in them cannot be asked; the others are. */
async function askServer(
  uses: readonly ExaminedUse[],
  server: PrometheusServer,
  records: readonly string[],
): Promise<readonly ExaminedUse[]> {
  const examined: ExaminedUse[] = []
  for (const one of uses) {
    const { use, findings } = one
    const isTemplate = /[${]{2}|\$|<<|%\(/.test(use.query.replaceAll(/\{[^{}]*\}/g, ''))
    if (use.kind === 'name' || isTemplate || findings.some(({ kind }) => kind === 'syntax')) {
      examined.push(one)
      continue
    }
    const samples = await server.query(use.query)
    const selectors = selectorsOf(use.query)
    const absent: string[] = []
    let unrecorded = false
    for (const selector of samples.length === 0 ? selectors : []) {
      const text = selectorText(selector)
      // A ratio of nothing is empty although the counts under it are there: that is how idle time looks.
      if ((await server.value(`count(${text})`)) !== null) continue
      if (records.includes(selector.name)) unrecorded = true
      else absent.push(text)
    }
    const [first] = selectors
    const age =
      first === undefined || samples.length === 0
        ? null
        : await server.value(`time() - max(timestamp(${selectorText(first)}))`)
    const live = answerFindings(use, {
      values: samples.length,
      notNumbers: samples.filter(({ value }) => !Number.isFinite(value)).length,
      absent: [...new Set(absent)],
      unrecorded,
      ageSeconds: age,
    })
    // Asked: what the server has, or lacks, is known of every series.
    examined.push({ ...one, findings: [...findings, ...live], unchecked: [] })
  }
  return examined
}

async function lookAtEngine(
  url: string,
  deps: Pick<FlowDeps, 'clock'>,
): Promise<{ readonly engine: DoctorEngineFacts; readonly live: KnownSeries['live'] }> {
  const { url: address, asker } = await openPlainAsker(url, { clock: deps.clock, timeoutMs: 10_000 })
  try {
    const path =
      address.pathname === '/' || /^\/v1\/?$/.test(address.pathname) ? '/metrics' : address.pathname
    const answer = await asker.sendOnce({ method: 'GET', path, body: null, stream: false })
    if (isFailure(answer)) {
      throw new PlimsollError('PLIM_CONNECT', `nothing answers at ${address.origin}`, {
        received: answer.failure.message,
        hint: `curl ${address.origin}${path}`,
      })
    }
    if (answer.status !== 200) {
      throw new PlimsollError('PLIM_PROMETHEUS', `${address.origin}${path} is no page of metrics`, {
        received: `HTTP ${answer.status}`,
        hint: 'SGLang needs --enable-metrics, llama.cpp --metrics',
      })
    }
    const contentType = answer.header('content-type')
    const scrape = parsePrometheusText(answer.bodyText, {
      source: `${address.origin}${path}`,
      ...(contentType === undefined ? {} : { contentType }),
    })
    const live = liveSeries(scrape)
    const engine = detectEngine(scrape)
    return {
      engine: {
        url: address.origin,
        engine,
        version: engine === null ? null : await versionOf(engine, asker.sendOnce),
        page: engine === null ? null : comparePage(live, catalogues[engine]),
      },
      live,
    }
  } finally {
    await asker.close()
  }
}

/** Where each engine tells its version: path, and the key of its JSON. */
const versionPages: Partial<Readonly<Record<EngineId, readonly [path: string, key: string]>>> = {
  vllm: ['/version', 'version'],
  sglang: ['/get_server_info', 'version'],
  tgi: ['/info', 'version'],
  trtllm: ['/version', 'version'],
  llamacpp: ['/props', 'build_info'],
}

async function versionOf(engine: EngineId, sendOnce: SendOnce): Promise<string | null> {
  const page = versionPages[engine]
  if (page === undefined) return null
  const answer = await sendOnce({ method: 'GET', path: page[0], body: null, stream: false })
  if (isFailure(answer) || answer.status !== 200) return null
  try {
    const value = (JSON.parse(answer.bodyText) as Readonly<Record<string, unknown>>)[page[1]]
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
