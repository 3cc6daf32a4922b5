import { seriesNames, type Catalogue, type EngineId, type KnownMetric } from './catalogue.ts'
import { llmdCatalogue, otelCatalogue, plimsollCatalogue } from './gateways.ts'
import { dynamoCatalogue, llamacppCatalogue, tgiCatalogue, trtllmCatalogue } from './other-engines.ts'
import { sglangCatalogue } from './sglang.ts'
import { vllmCatalogue } from './vllm.ts'

/** Every engine and gateway whose metrics are known. */
export const catalogues: Readonly<Record<EngineId, Catalogue>> = {
  vllm: vllmCatalogue,
  sglang: sglangCatalogue,
  tgi: tgiCatalogue,
  trtllm: trtllmCatalogue,
  dynamo: dynamoCatalogue,
  llamacpp: llamacppCatalogue,
  'llm-d': llmdCatalogue,
  otel: otelCatalogue,
  plimsoll: plimsollCatalogue,
}

export const engineIds: readonly EngineId[] = Object.keys(catalogues) as EngineId[]

/** The metric that a series of this name belongs to, in one catalogue. */
export function metricOfSeries(catalogue: Catalogue, series: string): KnownMetric | null {
  return catalogue.metrics.find((metric) => seriesNames(metric).includes(series)) ?? null
}

/** Engines that a name can belong to: by its prefix, or because they have the very series. */
export function enginesOfName(name: string): readonly Catalogue[] {
  return Object.values(catalogues).filter(
    (catalogue) => name.startsWith(catalogue.prefix) || metricOfSeries(catalogue, name) !== null,
  )
}
