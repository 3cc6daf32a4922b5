import { styleText } from 'node:util'

/** Colour for what needs the eye. Without colour the text is the same, letter for letter. */
export type Paint = (style: Style, text: string) => string
export type Style = 'good' | 'doubtful' | 'bad' | 'quiet' | 'strong'

const styles = { good: 'green', doubtful: 'yellow', bad: 'red', quiet: 'dim', strong: 'bold' } as const

export function painter(color: boolean): Paint {
  return (style, text) =>
    color && text !== '' ? styleText(styles[style], text, { validateStream: false }) : text
}

export interface RenderOptions {
  readonly color: boolean
  /** Show the working of each headline figure. */
  readonly explain: boolean
  /** False: the folder could not be written, or not whole. */
  readonly isStored?: boolean
  /** Columns of the terminal that it is read on, to which tables narrow; null or absent: it is as wide as it is. */
  readonly columns?: number | null
}
