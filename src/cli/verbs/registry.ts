import type { Verb } from '../verb.ts'

export const verbGroups = ['Measure', 'Judge', 'Look', 'Work out', 'Operate', 'Set up'] as const

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
    name: 'find',
    group: 'Measure',
    brief: 'The highest Poisson rate at which the objective holds, as an interval',
    load: async () => (await import('./find.ts')).findVerb,
  },
  {
    name: 'prefill',
    group: 'Measure',
    brief: 'TTFT against prompt length: prefill rate and fixed cost',
    load: async () => (await import('./prefill.ts')).prefillVerb,
  },
  {
    name: 'compare',
    group: 'Judge',
    brief: 'Is B faster than A, or not, or can nobody tell?',
    load: async () => (await import('./compare.ts')).compareVerb,
  },
  {
    name: 'why',
    group: 'Judge',
    brief: 'Why is X slower than Y: first token, pace, length, mix, pauses',
    load: async () => (await import('./why.ts')).whyVerb,
  },
  {
    name: 'show',
    group: 'Look',
    brief: 'A run, sweep, search or experiment again, from its folder',
    load: async () => (await import('./show.ts')).showVerb,
  },
  {
    name: 'export',
    group: 'Look',
    brief: 'The rows of a run as JSON Lines, CSV, Parquet, or the reports of vLLM and llm-d',
    load: async () => (await import('./export.ts')).exportVerb,
  },
  {
    name: 'import',
    group: 'Look',
    brief: "Other tools' results, recomputed, with what differs and why",
    load: async () => (await import('./import.ts')).importVerb,
  },
  {
    name: 'calc',
    group: 'Work out',
    brief: 'The arithmetic of serving, with its working: latency, queues, percentiles, capacity, budgets',
    load: async () => (await import('./calc.ts')).calcVerb,
  },
  {
    name: 'lab',
    group: 'Work out',
    brief: 'Experiments to convince oneself: tails, walls, coordinated omission',
    load: async () => (await import('./lab.ts')).labVerb,
  },
  {
    name: 'plan',
    group: 'Work out',
    brief: 'Replicas for a demand, from the operating point of a sweep',
    load: async () => (await import('./plan.ts')).planVerb,
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
    name: 'scale',
    group: 'Operate',
    brief: 'Signals to scale on, policies for HPA and KEDA, and a scaler that holds on silence',
    load: async () => (await import('./scale.ts')).scaleVerb,
  },
  {
    name: 'watch',
    group: 'Operate',
    brief: 'A live deployment: load, latency, burn, distance to the walls',
    load: async () => (await import('./watch.ts')).watchVerb,
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
  {
    name: 'completion',
    group: 'Set up',
    brief: 'Words for the Tab key of bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionVerb,
  },
]
