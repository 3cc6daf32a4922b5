import type { Verb } from '../verb.ts'

export const verbGroups = ['Measure', 'Look', 'Operate', 'Set up'] as const

/** A verb before it is loaded: what the list of verbs and the suggestions for typos need. */
export interface VerbEntry {
  readonly name: string
  readonly group: (typeof verbGroups)[number]
  readonly brief: string
  readonly load: () => Promise<Verb>
}

/** Every verb, in the order of the help. A new one is a file in this folder and a line here. */
export const verbEntries: readonly VerbEntry[] = [
  {
    name: 'run',
    group: 'Measure',
    brief: 'One load test, with its verdict: may the numbers be used?',
    load: async () => (await import('./run.ts')).runVerb,
  },
  {
    name: 'sweep',
    group: 'Measure',
    brief: 'Rising load: where are the walls, and what is the operating point?',
    load: async () => (await import('./sweep.ts')).sweepVerb,
  },
  {
    name: 'show',
    group: 'Look',
    brief: 'A run or sweep again, from its folder',
    load: async () => (await import('./show.ts')).showVerb,
  },
  {
    name: 'export',
    group: 'Look',
    brief: 'The rows of a run as JSON Lines, CSV or the result file of vLLM',
    load: async () => (await import('./export.ts')).exportVerb,
  },
  {
    name: 'slo',
    group: 'Operate',
    brief: 'Error budgets: should someone be paged, how long does it last, which rules to load',
    load: async () => (await import('./slo.ts')).sloVerb,
  },
  {
    name: 'doctor',
    group: 'Operate',
    brief: 'Do queries, autoscalers and dashboards ask for metrics that the engine has?',
    load: async () => (await import('./doctor.ts')).doctorVerb,
  },
  {
    name: 'engine',
    group: 'Set up',
    brief: 'The simulated server, to try things on without a GPU',
    load: async () => (await import('./engine-verb.ts')).engineVerb,
  },
  {
    name: 'init',
    group: 'Set up',
    brief: 'Write a commented plimsoll.yaml',
    load: async () => (await import('./init.ts')).initVerb,
  },
]
