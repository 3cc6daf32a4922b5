import * as v from 'valibot'

/** The `slo` section of plimsoll.yaml as it is written. */
export interface SloSection {
  readonly service?: string
  readonly engine?: SloEngine
  readonly match?: Readonly<Record<string, string>>
  readonly match_class?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly counters?: Readonly<
    Record<string, { readonly total: string; readonly bad?: string; readonly good?: string }>
  >
  readonly labels?: Readonly<Record<string, string>>
  readonly policy?: string | SloPolicySection
  readonly min_bad?: number
  readonly min_requests?: number
  readonly edges?: 'refuse' | 'pessimistic' | 'optimistic'
  readonly histograms?: 'classic' | 'native'
  readonly buckets?: Readonly<Partial<Record<'ttft' | 'tpot' | 'gap' | 'e2e', readonly number[]>>>
  readonly unreachable?: 'refuse' | 'refit'
  readonly interval?: string
}

export interface SloPolicySection {
  readonly name: string
  readonly comparator?: '>' | '>='
  readonly alerts: readonly {
    readonly severity: 'page' | 'ticket'
    readonly long: string
    readonly short?: string
    readonly factor?: string | number
    readonly budget?: string
  }[]
}

/** Whose metrics tell an objective. */
export const sloEngines = [
  'vllm',
  'sglang',
  'tgi',
  'trtllm',
  'dynamo',
  'llamacpp',
  'llm-d',
  'otel',
  'plimsoll',
] as const
export type SloEngine = (typeof sloEngines)[number]

type Described<T extends v.GenericSchema> = v.SchemaWithPipe<
  readonly [T, v.DescriptionAction<v.InferOutput<T>, string>]
>

function described<const T extends v.GenericSchema>(schema: T, description: string): Described<T> {
  return v.pipe(schema, v.description(description)) as Described<T>
}

const text = v.string()
const labels = v.record(text, text)
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

const policy = v.strictObject({
  name: text,
  comparator: v.exactOptional(v.picklist(['>', '>='])),
  alerts: v.array(
    v.strictObject({
      severity: v.picklist(['page', 'ticket']),
      long: text,
      short: v.exactOptional(text),
      factor: v.exactOptional(v.union([v.string(), v.number()])),
      budget: v.exactOptional(text),
    }),
  ),
})

export const sloSection: v.GenericSchema<unknown, SloSection> = v.strictObject({
  service: v.exactOptional(described(text, 'Name of the service, in labels and files')),
  engine: v.exactOptional(described(v.picklist(sloEngines), 'Whose metrics tell it')),
  match: v.exactOptional(described(labels, 'Labels that choose the series: model_name: llama')),
  match_class: v.exactOptional(described(v.record(text, labels), 'Further labels, by objective')),
  counters: v.exactOptional(
    described(
      v.record(
        text,
        v.strictObject({ total: text, bad: v.exactOptional(text), good: v.exactOptional(text) }),
      ),
      'Own counters of an objective as selectors, instead of the engine’s',
    ),
  ),
  labels: v.exactOptional(described(labels, 'Labels put on every rule')),
  policy: v.exactOptional(
    described(
      v.union([text, policy]),
      'sre-workbook (more than 14.4x, 6x, 3x, 1x), lesson (at least 6x), or your own',
    ),
  ),
  min_bad: v.exactOptional(described(count, 'Bad requests that an alert needs in its long window')),
  min_requests: v.exactOptional(described(count, 'Requests that an alert needs in its long window')),
  edges: v.exactOptional(
    described(
      v.picklist(['refuse', 'pessimistic', 'optimistic']),
      'A limit between two buckets: refused, or both sides are recorded and one decides',
    ),
  ),
  histograms: v.exactOptional(
    described(
      v.picklist(['classic', 'native']),
      'What the latencies are kept in: native ones need no bucket at the limit',
    ),
  ),
  buckets: v.exactOptional(
    described(
      v.strictObject({
        ttft: v.exactOptional(v.array(v.number())),
        tpot: v.exactOptional(v.array(v.number())),
        gap: v.exactOptional(v.array(v.number())),
        e2e: v.exactOptional(v.array(v.number())),
      }),
      'Bounds in seconds, where the engine was told others than its own',
    ),
  ),
  unreachable: v.exactOptional(
    described(
      v.picklist(['refuse', 'refit']),
      'An alert that can never fire: refused, or given a factor that can',
    ),
  ),
  interval: v.exactOptional(described(text, 'How often the rules are evaluated: 30s')),
}) as v.GenericSchema<unknown, SloSection>
