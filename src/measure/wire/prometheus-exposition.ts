import { formatPrometheusNumber } from './prometheus-number.ts'

export interface ExposedSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ExposedHistogramSeries {
  readonly labels: Readonly<Record<string, string>>
  /** Observations in each bucket alone (not cumulative), one per bound and a last one for +Inf. */
  readonly bucketCounts: ArrayLike<number>
  readonly sum: number
}

/** A metric to be shown. A counter's name comes without `_total`: each format puts it where it belongs. */
export type ExposedMetric =
  | {
      readonly kind: 'counter' | 'gauge'
      readonly name: string
      readonly help: string
      readonly series: readonly ExposedSeries[]
    }
  | {
      readonly kind: 'histogram'
      readonly name: string
      readonly help: string
      /** Finite upper bounds, rising. */
      readonly bounds: readonly number[]
      readonly series: readonly ExposedHistogramSeries[]
    }

export interface ExpositionOptions {
  readonly openMetrics: boolean
  /** When the series began, seconds since 1970; null leaves the `_created` series out. */
  readonly createdS: number | null
}

/**
 * The page as Python's client library writes it, the one behind vLLM's `/metrics`: labels in alphabetical order, numbers as floats,
 * `_created` inside the family in OpenMetrics and as a gauge of its own in the text format.
 */
export function writeExposition(metrics: readonly ExposedMetric[], options: ExpositionOptions): string {
  const out: string[] = []
  for (const metric of metrics) {
    const total = metric.kind === 'counter' ? `${metric.name}_total` : metric.name
    const family = options.openMetrics ? metric.name : total
    head(out, family, metric.help, metric.kind)
    if (metric.kind === 'histogram') {
      for (const series of metric.series) writeHistogram(out, metric.name, metric.bounds, series)
    } else {
      for (const { labels, value } of metric.series) line(out, total, labels, value)
    }
    if (options.createdS === null || metric.kind === 'gauge') continue
    const created = `${metric.name}_created`
    if (!options.openMetrics) head(out, created, metric.help, 'gauge')
    for (const { labels } of metric.series) line(out, created, labels, options.createdS)
  }
  if (options.openMetrics) out.push('# EOF\n')
  return out.join('')
}

/** The content type of a page, and whether a request's Accept header asks for OpenMetrics. */
export function expositionFormat(accept: string | undefined): { openMetrics: boolean; contentType: string } {
  const openMetrics = accept !== undefined && accept.includes('application/openmetrics-text')
  return {
    openMetrics,
    contentType: openMetrics
      ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
      : 'text/plain; version=0.0.4; charset=utf-8',
  }
}

function head(out: string[], name: string, help: string, type: string): void {
  const escaped = help.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`)
  out.push(`# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`)
}

function writeHistogram(
  out: string[],
  name: string,
  bounds: readonly number[],
  series: ExposedHistogramSeries,
): void {
  let cumulative = 0
  for (let index = 0; index <= bounds.length; index++) {
    cumulative += series.bucketCounts[index] ?? 0
    const le = formatPrometheusNumber(bounds[index] ?? Number.POSITIVE_INFINITY)
    line(out, `${name}_bucket`, { ...series.labels, le }, cumulative)
  }
  line(out, `${name}_count`, series.labels, cumulative)
  line(out, `${name}_sum`, series.labels, series.sum)
}

function line(out: string[], name: string, labels: Readonly<Record<string, string>>, value: number): void {
  const pairs = Object.keys(labels)
    .sort()
    .map((label) => `${label}="${escapeLabel(labels[label] ?? '')}"`)
  out.push(`${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${formatPrometheusNumber(value)}\n`)
}

function escapeLabel(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
