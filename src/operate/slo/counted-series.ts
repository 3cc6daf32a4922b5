/** A counter to which an event adds one. */
export interface CountedSeries {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}
