import { PlimsollError, type TextPosition } from '../../base/errors.ts'
import { LineFault, parseSampleLine, type Sample } from './prometheus-line.ts'

export type { Labels, Sample } from './prometheus-line.ts'

/** The types of both formats; `untyped` of the text format is `unknown` here. */
export type MetricType =
  | 'counter'
  | 'gauge'
  | 'histogram'
  | 'gaugehistogram'
  | 'summary'
  | 'info'
  | 'stateset'
  | 'unknown'

export interface MetricFamily {
  /** As the TYPE line names it: OpenMetrics leaves `_total` off a counter, the text format does not. */
  readonly name: string
  readonly type: MetricType
  readonly help: string | null
  readonly unit: string | null
  readonly samples: readonly Sample[]
}

/**
 * What of a page could not be read. `line`: a sample that was left out. `exemplar`: only the exemplar was. `metadata`: a TYPE, HELP or
 * UNIT that contradicts. `duplicate`: a series named twice, the first kept. `end`: OpenMetrics without `# EOF`, or with more after it.
 */
export interface ScrapeProblem {
  readonly kind: 'line' | 'exemplar' | 'metadata' | 'duplicate' | 'end'
  readonly expected: string
  readonly received: string
  readonly where: TextPosition
}

export interface Scrape {
  readonly openMetrics: boolean
  readonly families: readonly MetricFamily[]
  readonly problems: readonly ScrapeProblem[]
}

export interface ParsePrometheusOptions {
  /** The format; else from `contentType`, else OpenMetrics where a line `# EOF` ends the page. */
  readonly openMetrics?: boolean
  readonly contentType?: string
  /** What errors call the page: its URL or file. */
  readonly source?: string
  /** Refuse the whole page at its first problem, as Prometheus does. Otherwise what can be read is kept and the rest is named. */
  readonly strict?: boolean
}

/**
 * Reads a page of the Prometheus text format 0.0.4 or OpenMetrics 1.0. One bad line costs that line, never the page: it stands in
 * `problems` with its position. A page without a single readable line (HTML, JSON) throws PLIM_PROMETHEUS.
 */
export function parsePrometheusText(text: string, options: ParsePrometheusOptions = {}): Scrape {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  const openMetrics =
    options.openMetrics ?? formatOf(options.contentType) ?? /^# EOF\r?$/.test(lines.at(-1) ?? '')
  const page = new Page(openMetrics, options.source ?? '/metrics', options.strict ?? false)
  let ended = false
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (ended) {
      page.problem('end', index, 1, 'nothing after # EOF', JSON.stringify(line.slice(0, 40)))
      break
    }
    const content = line.trimStart()
    if (content === '') continue
    if (openMetrics && content === '# EOF') ended = true
    else if (content.startsWith('#')) page.comment(content, index)
    else page.sample(line, index)
  }
  if (openMetrics && !ended)
    page.problem('end', lines.length, 1, 'a last line # EOF', 'a page that ends before it')
  return page.finish()
}

/** The problem as the error that strict callers throw. */
export function scrapeProblemError(problem: ScrapeProblem): PlimsollError {
  return new PlimsollError(
    'PLIM_PROMETHEUS',
    `cannot read ${problem.kind === 'exemplar' ? 'an exemplar' : 'a line'} of the scrape`,
    problem,
  )
}

/** The family called `name`, whether or not the page's format writes `_total` into a counter's name. */
export function findFamily(scrape: Scrape, name: string): MetricFamily | null {
  const bare = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name
  return (
    scrape.families.find((family) => family.name === name) ??
    scrape.families.find((family) => family.name === bare || family.name === `${bare}_total`) ??
    null
  )
}

/** A number that is the same for equal series whatever the order of their labels, `except` left out. */
export function seriesKey(labels: Readonly<Record<string, string>>, except?: string): string {
  const names = Object.keys(labels).filter((name) => name !== except)
  return JSON.stringify(names.sort().map((name) => [name, labels[name]]))
}

function formatOf(contentType: string | undefined): boolean | null {
  if (contentType === undefined) return null
  return contentType.trim().toLowerCase().startsWith('application/openmetrics-text')
}

const types: ReadonlySet<string> = new Set<MetricType>([
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
  'unknown',
])

/** Which names of samples belong to a family of a type, besides the family's own. */
const suffixes: Readonly<Record<MetricType, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [],
  histogram: ['_bucket', '_sum', '_count', '_created'],
  gaugehistogram: ['_bucket', '_gsum', '_gcount', '_sum', '_count', '_created'],
  summary: ['_sum', '_count', '_created'],
  info: ['_info'],
  stateset: [],
  unknown: [],
}
const allSuffixes = [...new Set(Object.values(suffixes).flat())]

interface Draft {
  readonly name: string
  type: MetricType | null
  help: string | null
  unit: string | null
  readonly samples: Sample[]
}

/** Metadata first, samples second: a TYPE line counts for its family wherever on the page it stands. */
class Page {
  readonly openMetrics: boolean
  readonly source: string
  readonly strict: boolean
  readonly drafts: Map<string, Draft> = new Map()
  readonly samples: { readonly sample: Sample; readonly index: number }[] = []
  readonly problems: ScrapeProblem[] = []
  /** Lines that say something: a page without any is not a scrape. */
  readable = 0

  constructor(openMetrics: boolean, source: string, strict: boolean) {
    this.openMetrics = openMetrics
    this.source = source
    this.strict = strict
  }

  problem(
    kind: ScrapeProblem['kind'],
    index: number,
    column: number,
    expected: string,
    received: string,
  ): void {
    const problem: ScrapeProblem = {
      kind,
      expected,
      received,
      where: { file: this.source, line: index + 1, column },
    }
    if (this.strict) throw scrapeProblemError(problem)
    this.problems.push(problem)
  }

  comment(content: string, index: number): void {
    this.readable++
    const found = /^#[ \t]*(HELP|TYPE|UNIT)[ \t]+("(?:[^"\\]|\\.)*"|[^ \t]+)(?:[ \t]+(.*))?$/.exec(content)
    if (found === null) return
    const [, keyword, rawName = '', rest = ''] = found
    const name = rawName.startsWith('"') ? unescapeHelp(rawName.slice(1, -1)) : rawName
    const draft = this.draft(name)
    if (keyword === 'HELP') {
      if (draft.help === null) draft.help = unescapeHelp(rest)
      else if (draft.help !== unescapeHelp(rest))
        this.problem('metadata', index, 1, `one HELP for ${name}`, 'a second one')
    } else if (keyword === 'UNIT') draft.unit = rest.trim()
    else this.type(draft, rest.trim().toLowerCase(), index)
  }

  type(draft: Draft, text: string, index: number): void {
    const type = text === 'untyped' ? 'unknown' : text
    if (!types.has(type)) this.problem('metadata', index, 1, 'a metric type', JSON.stringify(text))
    else if (draft.type !== null && draft.type !== type)
      this.problem('metadata', index, 1, `one TYPE for ${draft.name}`, `${draft.type}, then ${type}`)
    else draft.type = type as MetricType
  }

  sample(line: string, index: number): void {
    try {
      const { sample, exemplarFault } = parseSampleLine(line, this.openMetrics)
      this.samples.push({ sample, index })
      this.readable++
      if (exemplarFault !== null) this.fault('exemplar', exemplarFault, index)
    } catch (error) {
      if (!(error instanceof LineFault)) throw error
      this.fault('line', error, index)
    }
  }

  fault(kind: 'line' | 'exemplar', found: LineFault, index: number): void {
    this.problem(kind, index, found.column, found.expected, found.received)
  }

  finish(): Scrape {
    const first = this.problems[0]
    if (this.readable === 0 && first !== undefined) throw scrapeProblemError(first)
    const seen = new Set<string>()
    for (const { sample, index } of this.samples) {
      const key = `${sample.name} ${seriesKey(sample.labels)} ${sample.timestampMs}`
      if (seen.has(key)) {
        this.problem('duplicate', index, 1, 'each series once', `${sample.name} again`)
        continue
      }
      seen.add(key)
      this.draft(this.familyName(sample.name)).samples.push(sample)
    }
    const families = [...this.drafts.values()].map((draft) => ({ ...draft, type: draft.type ?? 'unknown' }))
    return { openMetrics: this.openMetrics, families, problems: this.problems }
  }

  familyName(sampleName: string): string {
    if (this.typeOf(sampleName) !== null) return sampleName
    for (const suffix of allSuffixes) {
      if (!sampleName.endsWith(suffix)) continue
      const bare = sampleName.slice(0, -suffix.length)
      for (const name of suffix === '_created' ? [bare, `${bare}_total`] : [bare]) {
        const type = this.typeOf(name)
        if (type !== null && suffixes[type].includes(suffix)) return name
      }
    }
    return sampleName
  }

  typeOf(name: string): MetricType | null {
    return this.drafts.get(name)?.type ?? null
  }

  draft(name: string): Draft {
    let draft = this.drafts.get(name)
    if (draft === undefined) {
      draft = { name, type: null, help: null, unit: null, samples: [] }
      this.drafts.set(name, draft)
    }
    return draft
  }
}

function unescapeHelp(text: string): string {
  return text.replace(/\\(n|\\|")/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
