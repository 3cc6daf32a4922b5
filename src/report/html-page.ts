import { element, escapeMarkup } from './svg-markup.ts'
import { figureStyle, inlineSvg, type Figure } from './svg-figure.ts'

/** One page: nothing is fetched, nothing is run; the document it shows is inside it for programs. */
export interface Page {
  readonly title: string
  /** Markup of the body, top to bottom. */
  readonly sections: readonly string[]
  /** The document as `--json` prints it. */
  readonly document: object
}

export function htmlPage({ title, sections, document }: Page): string {
  // `<` is the only character that could end the script element early.
  const data = JSON.stringify(document).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeMarkup(title)}</title>
<style>${figureStyle}${pageStyle}</style>
</head>
<body>
<main>
${sections.filter((section) => section !== '').join('\n')}
</main>
<script type="application/json" id="document">${data}</script>
</body>
</html>
`
}

/** Markup of the text, with quantities kept on one line. */
export function words(text: string): string {
  return escapeMarkup(text)
}

/** A figure under its title. */
export function figureSection(figure: Figure | null, note = ''): string {
  if (figure === null) return ''
  return element(
    'figure',
    {},
    element('figcaption', {}, element('b', {}, words(figure.title)), note === '' ? '' : ` ${words(note)}`),
    inlineSvg(figure),
  )
}

/** A label that says its formula when it is hovered or focused. */
export function formula(label: string, how: string | undefined): string {
  return how === undefined ? words(label) : element('abbr', { title: how, tabindex: 0 }, words(label))
}

export interface Card {
  readonly label: string
  readonly formula?: string
  readonly value: string
  readonly note: string
}

export function cards(all: readonly Card[]): string {
  const one = ({ label, formula: how, value, note }: Card): string =>
    element(
      'div',
      { class: 'card' },
      element('div', { class: 'label' }, formula(label, how)),
      element('div', { class: 'value' }, words(value)),
      element('div', { class: 'note' }, words(note)),
    )
  return all.length === 0 ? '' : element('section', { class: 'cards' }, ...all.map(one))
}

/** Cells are markup. The first column is a heading. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const top = element('tr', {}, ...head.map((cell) => element('th', { scope: 'col' }, cell)))
  const lines = rows.map(([first = '', ...rest]) =>
    element('tr', {}, element('th', { scope: 'row' }, first), ...rest.map((cell) => element('td', {}, cell))),
  )
  return element(
    'div',
    { class: 'scroll' },
    element('table', {}, element('thead', {}, top), element('tbody', {}, ...lines)),
  )
}

export function section(title: string, ...markup: readonly string[]): string {
  const inside = markup.filter((one) => one !== '')
  return inside.length === 0 ? '' : element('section', {}, element('h2', {}, words(title)), ...inside)
}

export function list(items: readonly string[], kind: 'ul' | 'ol' = 'ul'): string {
  return items.length === 0 ? '' : element(kind, {}, ...items.map((item) => element('li', {}, item)))
}

export function folded(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  return element(
    'details',
    {},
    element('summary', {}, words(title)),
    element('pre', {}, words(lines.join('\n'))),
  )
}

export function commands(lines: readonly string[]): string {
  return element('pre', { class: 'commands' }, words(lines.join('\n')))
}

const pageStyle = `
:root{--tint:#f6f7f9;--edge:#e3e7ee;--code:#f1f3f7}
@media (prefers-color-scheme:dark){:root{--tint:#0c0f16;--edge:#263043;--code:#1a2030}}
*{box-sizing:border-box}
body{margin:0;background:var(--tint);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1040px;margin:0 auto;padding:28px 20px 60px}
header{margin-bottom:22px}
.brand{color:var(--quiet);font-size:13px;display:flex;justify-content:space-between;gap:16px;flex-wrap:wrap}
.brand b{color:var(--ink);letter-spacing:.02em}
h1{font-size:27px;line-height:1.25;margin:10px 0 8px;font-weight:650;letter-spacing:-.01em;text-wrap:balance}
h2{font-size:16px;margin:34px 0 10px;font-weight:650}
.badge{display:inline-block;font-size:13px;font-weight:700;letter-spacing:.04em;padding:3px 10px;border-radius:99px;color:#fff;vertical-align:4px;margin-right:10px}
.VALID{background:#12875a}.DEGRADED{background:#b35c00}.INVALID{background:#c9281d}.none{background:#667085}
.binds{font-size:17px;margin:0 0 8px}.rests{color:var(--quiet);margin:2px 0}
.reasons{margin:8px 0 0;padding-left:20px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(172px,1fr));gap:12px;margin:20px 0}
.card,figure{background:var(--paper);border:1px solid var(--edge);border-radius:10px}
.card{padding:12px 14px}.card .label{color:var(--quiet);font-size:13px}.card .value{font-size:23px;font-weight:650;letter-spacing:-.01em;line-height:1.35}.card .note{color:var(--quiet);font-size:13px}
figure{margin:14px 0;padding:14px 16px 8px}figure svg{display:block;width:100%;height:auto;margin-top:6px}figcaption{font-size:14px;color:var(--quiet)}figcaption b{color:var(--ink);font-weight:650}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:14px}.pair figure{margin:0}
@media (max-width:760px){.pair{grid-template-columns:1fr}h1{font-size:22px}}
.scroll{overflow-x:auto;background:var(--paper);border:1px solid var(--edge);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{padding:7px 12px;vertical-align:top;text-align:right;white-space:nowrap;border-top:1px solid var(--edge)}
thead th{border-top:0;color:var(--quiet);font-weight:500}th:first-child,td.text,th.text{text-align:left}tbody th{font-weight:600}td .ci{display:block;color:var(--quiet);font-size:12px;line-height:1.2}
tr.chosen{background:color-mix(in srgb,var(--good) 10%,transparent)}
td .remark{display:block;white-space:normal;text-align:left;min-width:200px;color:var(--quiet);font-size:13px}
abbr{text-decoration:underline dotted var(--quiet);text-underline-offset:3px;cursor:help}
.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}.doubt{color:var(--saturation);font-weight:600}.quiet{color:var(--quiet)}
ol,ul{padding-left:22px;margin:6px 0}li{margin:5px 0}
details{margin:14px 0}summary{cursor:pointer;font-weight:600}
pre{background:var(--code);border-radius:8px;padding:12px 14px;overflow-x:auto;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}
footer{color:var(--quiet);font-size:13px;margin-top:30px;border-top:1px solid var(--edge);padding-top:12px}
@media print{body{background:#fff}main{max-width:none;padding:0}figure,.card,.scroll{break-inside:avoid}}
`
