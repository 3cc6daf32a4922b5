import { mean } from '../stats/describe.ts'

/** What is known of a run besides its figures: name of a fact → its text, or null where it is not known. */
export type RunFacts = Readonly<Record<string, string | null>>

/** Figures of a run that should be alike in both arms, with the difference that would matter. */
export interface AlikeFigure {
  readonly name: string
  /** One value a run; null: not known. */
  readonly a: readonly (number | null)[]
  readonly b: readonly (number | null)[]
  /** `share`: values are 0..1 and compared by their difference; `ratio`: by their quotient. */
  readonly kind: 'share' | 'ratio'
  /** 0.05: five points, or five per cent. */
  readonly tolerance: number
  /** Why it may explain a difference, and what to do, where it alone can. */
  readonly explains: { readonly why: string; readonly next: string } | null
}

/** Something else that differs between the arms. */
export interface ResidueItem {
  readonly name: string
  readonly a: string
  readonly b: string
  /** That alone can explain a difference: why, and what to do. */
  readonly explains: { readonly why: string; readonly next: string } | null
}

/** Facts that differ between the arms. A fact that also varies inside an arm is listed with all its values. */
export function factResidue(
  a: readonly RunFacts[],
  b: readonly RunFacts[],
  explains: Readonly<Record<string, { readonly why: string; readonly next: string }>> = {},
): readonly ResidueItem[] {
  const names = new Set([...a, ...b].flatMap((facts) => Object.keys(facts)))
  const items: ResidueItem[] = []
  for (const name of names) {
    const inA = valuesOf(a, name)
    const inB = valuesOf(b, name)
    if (inA.join('\n') === inB.join('\n')) continue
    items.push({ name, a: inA.join(', '), b: inB.join(', '), explains: explains[name] ?? null })
  }
  return items
}

/** Figures whose means over the runs differ by more than their tolerance, or that only one arm has. */
export function figureResidue(
  figures: readonly AlikeFigure[],
  format: (value: number, kind: AlikeFigure['kind']) => string,
): readonly ResidueItem[] {
  const items: ResidueItem[] = []
  for (const { name, a, b, kind, tolerance, explains } of figures) {
    const first = meanKnown(a)
    const second = meanKnown(b)
    if (first === null && second === null) continue
    if (first !== null && second !== null) {
      const apart =
        kind === 'share'
          ? Math.abs(second - first)
          : Math.abs(second - first) / Math.max(Math.abs(first), Number.MIN_VALUE)
      if (apart <= tolerance) continue
    }
    const text = (value: number | null): string => (value === null ? 'unknown' : format(value, kind))
    // What one arm does not tell cannot be said to differ: it is listed, and explains nothing.
    const known = first !== null && second !== null
    items.push({ name, a: text(first), b: text(second), explains: known ? explains : null })
  }
  return items
}

function valuesOf(runs: readonly RunFacts[], name: string): readonly string[] {
  return [...new Set(runs.map((facts) => facts[name] ?? 'unknown'))].sort()
}

function meanKnown(values: readonly (number | null)[]): number | null {
  return mean(values.filter((value) => value !== null))
}
