import type { FlagSpecs } from '../verb.ts'

const group = 'What is good'

export const judgeFlags: FlagSpecs = {
  slo: {
    kind: 'list',
    group,
    brief:
      'Objective: "ttft < 500ms and tpot < 30ms" for each request, "p99 tpot <= 10ms" for the run; exit 3 if missed',
    placeholder: 'TEXT',
    aliases: ['objective'],
  },
  goodput: {
    kind: 'list',
    manyValues: true,
    group,
    brief: "vLLM's form, in ms: ttft:500 tpot:30 e2el:3000; never fails a run",
    placeholder: 'NAME:MS',
  },
  percentiles: {
    kind: 'text',
    group,
    brief: 'Percentiles to print',
    placeholder: 'LIST',
    aliases: ['metric-percentiles'],
    default: '50,90,95,99,99.9',
  },
  'percentile-type': {
    kind: 'text',
    group,
    brief: '1 nearest rank; 6, 7 (numpy) and floor to compare with other tools',
    placeholder: 'TYPE',
    default: '1',
  },
}
