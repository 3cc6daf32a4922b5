import type { SloAction } from '../flows.ts'
import type { FlagSpec, FlagSpecs } from '../verb.ts'

const flag = (group: string, placeholder: string, brief: string, more: Partial<FlagSpec> = {}): FlagSpec => ({
  kind: 'text',
  group,
  placeholder,
  brief,
  ...more,
})

const json: FlagSpec = { kind: 'switch', group: 'Output', brief: 'One JSON document on stdout' }
const quiet: FlagSpec = {
  kind: 'switch',
  group: 'Output',
  brief: 'Nothing on stderr but errors',
  letter: 'q',
}
const objective = flag('Numbers', 'SHARE', 'What is promised: 99.5%')
const window = flag('Numbers', 'TIME', 'Over which time: 30d', {
  default: '30d',
  aliases: ['over', 'period'],
})
const prometheus = flag('Live', 'URL', 'Prometheus server to ask')
const name = flag('Live', 'NAME', 'Only this objective of the file')
const policy = flag('Policy', 'NAME', 'sre-workbook or lesson; the file may hold one of your own')
const engine = flag('Metrics', 'NAME', 'vllm, sglang, tgi, trtllm, dynamo, llm-d, otel or plimsoll')

const fileFlags: FlagSpecs = {
  engine,
  policy,
  edges: flag('Metrics', 'HOW', 'A limit between two buckets: refuse, pessimistic or optimistic'),
  'native-histograms': {
    kind: 'switch',
    group: 'Metrics',
    brief: 'The latencies are native histograms: no bucket is needed at the limit',
  },
  unreachable: flag('Policy', 'HOW', 'An alert that can never fire: refuse, or refit its factor'),
  out: flag('Output', 'DIR', 'Write every file there', { letter: 'o' }),
}

/** The flags of each part of `slo`. */
export const sloFlags: Readonly<Record<SloAction, FlagSpecs>> = {
  page: {
    objective,
    window,
    long: flag('Numbers', 'SHARE', 'Bad share of the last hour: 3%, or bad/all: 36/1200'),
    short: flag('Numbers', 'SHARE', 'Bad share of the last five minutes'),
    at: flag('Numbers', 'TIME=SHARE', 'Another window: 6h=2%, or 1h=36/1200', { kind: 'list' }),
    requests: flag('Numbers', 'COUNT', 'Requests of the whole window: 2M'),
    'min-bad': flag('Numbers', 'COUNT', 'Bad requests that an alert needs, where they are counted', {
      default: '3',
      idle: 'shares alone do not tell how many were bad: --at 1h=36/1200',
    }),
    policy: { ...policy, default: 'lesson' },
    prometheus,
    name,
    engine,
    json,
    quiet,
  },
  budget: {
    objective,
    window,
    requests: flag('Numbers', 'COUNT', 'Requests of the whole window: 2M'),
    bad: flag('Numbers', 'COUNT', 'Bad ones so far'),
    seen: flag('Numbers', 'COUNT', 'Requests so far; --requests without it'),
    'bad-share': flag('Numbers', 'SHARE', 'Bad share instead of counts: 3%'),
    elapsed: flag('Numbers', 'TIME', 'How long that took; the whole window without it'),
    slo: {
      kind: 'list',
      group: 'Run',
      placeholder: 'TEXT',
      brief: 'Objective of a run: "ttft < 500ms and tpot < 30ms, good 99.5%"',
      aliases: ['objective-text'],
    },
    prometheus,
    name,
    engine,
    json,
    quiet,
  },
  rules: {
    ...fileFlags,
    format: flag('Output', 'FORMAT', 'On stdout: plain, crd, dashboard, openslo, test', {
      letter: 'f',
      default: 'plain',
    }),
    json,
    quiet,
  },
  test: { ...fileFlags, json, quiet },
}
