/** Text as it may stand in HTML, SVG and XML, between tags and in attributes. Characters that XML 1.0 has no place for become U+FFFD. */
export function escapeMarkup(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu, '\uFFFD')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
  )
}

export type Attributes = Readonly<Record<string, string | number | undefined>>

/** An element; children are markup already. Coordinates are rounded to a tenth of a pixel: nobody sees more, and files stay small. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        ` ${key}="${typeof value === 'number' ? coordinate(value) : escapeMarkup(value ?? '')}"`,
    )
    .join('')
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join('')}</${name}>`
}

export function coordinate(value: number): string {
  return Number.isFinite(value) ? String(Math.round(value * 10) / 10) : '0'
}

/** A label; `title` is what hovering it says. */
export function label(text: string, attributes: Attributes, title?: string): string {
  const said = title === undefined ? '' : element('title', {}, escapeMarkup(title))
  return element('text', attributes, said + escapeMarkup(text))
}

/** A path through points. */
export function polyline(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${coordinate(x)} ${coordinate(y)}`).join('')
}
