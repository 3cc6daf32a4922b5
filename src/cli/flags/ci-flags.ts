import type { FlagSpecs } from '../verb.ts'

const group = 'In a pipeline'

/** What a CI server reads, beside the exit code. */
export const ciFlags: FlagSpecs = {
  junit: {
    kind: 'text',
    group,
    brief: 'JUnit XML: a case for the verdict and one for each objective; written over if it is there',
    placeholder: 'FILE',
  },
  ci: {
    kind: 'text',
    group,
    brief: 'github: annotations on stderr',
    placeholder: 'NAME',
  },
}
