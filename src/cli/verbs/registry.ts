import type { Verb } from '../verb.ts'

export const verbGroups = ['Measure', 'Look', 'Work out', 'Set up'] as const

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
    name: 'calc',
    group: 'Work out',
    brief: 'The arithmetic of serving, with its working: latency, queues, percentiles, capacity, budgets',
    load: async () => (await import('./calc.ts')).calcVerb,
  },
  {
    name: 'model',
    group: 'Work out',
    brief: 'A model of an engine: fitted to load tests, asked about other loads, scored',
    load: async () => (await import('./model.ts')).modelVerb,
  },
  {
    name: 'simulate',
    group: 'Work out',
    brief: 'A fleet in virtual time: routers, autoscalers, faults, a day in seconds',
    load: async () => (await import('./simulate.ts')).simulateVerb,
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
