import { describePosition } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import type { ExaminedUse } from '../operate/doctor/examine.ts'
import { isUnchecked, seriesOf, type DoctorEngineFacts, type DoctorFacts } from './doctor-documents.ts'
import { catalogues } from '../operate/catalogue/engines.ts'
import { catalogueVersion } from '../operate/catalogue/catalogue.ts'
import { painter, type Paint, type RenderOptions } from './paint.ts'
import { printable } from './printable.ts'

/** What is wrong and what to write instead; then what was looked at. */
export function renderDoctor(report: DoctorFacts, options: Pick<RenderOptions, 'color'>): string {
  const paint = painter(options.color)
  const uses = report.files.flatMap(({ uses: own }) => own)
  const findings = uses.flatMap(({ findings: own }) => own)
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const lines: string[] = []
  const { series, unchecked } = seriesOf(uses)
  if (report.files.length > 0) {
    const what = `${counted(uses.length, 'query', 'queries')} in ${counted(report.files.length, 'file')}, ${series - unchecked.length} of ${series} series checked`
    lines.push(
      uses.length === 0
        ? `${paint('doubtful', 'NOTHING CHECKED')} · no query was found in ${report.files.map(({ path }) => printable(path)).join(', ')}`
        : findings.length > 0
          ? `${paint(errors > 0 ? 'bad' : 'doubtful', `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`)} · ${what}`
          : isUnchecked(report)
            ? `${paint('doubtful', 'NOTHING CHECKED')} · ${what}`
            : `${paint('good', 'NOTHING WRONG')} · ${what}`,
    )
  }
  if (report.files.length > 0 && uses.length === 0) {
    lines.push('  expected rules, dashboards or autoscalers in YAML or JSON, or a query in a .promql file')
  }
  for (const { uses: own } of report.files) lines.push(...findingLines(own, paint))
  if (unchecked.length > 0) {
    const shown = unchecked.slice(0, 8).map(printable).join(', ')
    const more = unchecked.length > 8 ? `, and ${unchecked.length - 8} more` : ''
    lines.push(
      paint('doubtful', `  not checked: ${shown}${more}`),
      '    in no catalogue of an engine, and made by no rule of these files; --prometheus SERVER asks for them',
    )
  }
  if (report.engine !== null) lines.push(...engineLines(report.engine, paint))
  lines.push(
    report.engine === null && report.prometheus === null
      ? `  against the catalogue ${catalogueVersion}; --url ENGINE checks the very server`
      : `  catalogue ${catalogueVersion}`,
  )
  return `${lines.join('\n')}\n`
}

/** Each finding of a file once, at the first place where it stands. */
function findingLines(uses: readonly ExaminedUse[], paint: Paint): readonly string[] {
  const all = uses.flatMap(({ use, findings }) => findings.map((finding) => ({ use, finding })))
  const first = new Map<string, { readonly at: (typeof all)[number]; count: number }>()
  for (const one of all) {
    const key = `${one.finding.kind} ${one.finding.message}`
    const before = first.get(key)
    if (before === undefined) first.set(key, { at: one, count: 1 })
    else before.count++
  }
  return [...first.values()].flatMap(({ at: { use, finding }, count }) => {
    const { severity, message, suggestion } = finding
    const again = count === 1 ? '' : `  (and ${count - 1} more times)`
    return [
      `  ${describePosition(use.where)}  ${paint(severity === 'error' ? 'bad' : 'doubtful', severity)}  ${printable(message)}${again}`,
      ...(suggestion === null ? [] : [`      write ${printable(suggestion)}`]),
    ]
  })
}

function engineLines(facts: DoctorEngineFacts, paint: Paint): readonly string[] {
  const { engine, version, url, page } = facts
  if (engine === null || page === null)
    return [`  ${url}: ${paint('doubtful', 'metrics of no engine that is known here')}`]
  const { title, asOf } = catalogues[engine]
  const lines = [
    `  ${title}${version === null ? '' : ` ${printable(version)}`} at ${url}: ${page.shown} of the ${page.known} metrics known as of ${asOf} are there`,
  ]
  const list = (what: string, names: readonly string[]): void => {
    if (names.length === 0) return
    const shown = names.slice(0, 8).map(printable).join(', ')
    lines.push(`    ${what}: ${shown}${names.length > 8 ? `, and ${names.length - 8} more` : ''}`)
  }
  list('not there', page.missing)
  list('not in the catalogue', page.unknown)
  list('with other buckets', page.otherBounds)
  return lines
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${noun(count, one, many)}`
}
