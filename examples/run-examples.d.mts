export interface Example {
  readonly name: string
  /** What it shows, in a sentence. */
  readonly what: string
  readonly line: string
  readonly argv: readonly string[]
}

export interface Printed {
  readonly stdout: string
  readonly stderr: string
  readonly exit: number
}

export declare function readExamples(): readonly Example[]
export declare function runExample(example: Example): Promise<Printed>
export declare function expectedOf(example: Example): Printed
export declare function writeExpected(example: Example, printed: Printed): void
export declare function words(line: string): readonly string[]
