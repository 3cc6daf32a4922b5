import type { ApiKind } from '../../measure/wire/api.ts'
import type { SloSection } from './slo-section.ts'

/** A number, or text with a unit. */
export type QuantityText = string | number
type Pairs = Readonly<Record<string, string | number | boolean>>

export type LengthText =
  | number
  | string
  | { readonly lognormal: { readonly median: number; readonly p99: number } }
  | { readonly normal: { readonly mean: number; readonly sd: number } }
  | { readonly uniform: { readonly low: number; readonly high: number } }
  | { readonly mean: number; readonly sd?: number }

export type ArrivalsText =
  | { readonly kind: 'constant'; readonly rate: QuantityText; readonly max_connections?: QuantityText }
  | { readonly kind: 'poisson'; readonly rate: QuantityText; readonly max_connections?: QuantityText }
  | {
      readonly kind: 'gamma'
      readonly rate: QuantityText
      readonly cv: number
      readonly max_connections?: QuantityText
    }
  | {
      readonly kind: 'ramp'
      readonly from: QuantityText
      readonly to: QuantityText
      readonly over: QuantityText
      readonly spacing?: 'even' | 'poisson'
    }
  | {
      readonly kind: 'steps'
      readonly steps: readonly { readonly rate: QuantityText; readonly for: QuantityText }[]
      readonly spacing?: 'even' | 'poisson'
    }
  | { readonly kind: 'burst'; readonly size: QuantityText; readonly every?: QuantityText }
  | {
      readonly kind: 'users'
      readonly users: QuantityText
      readonly think?: QuantityText
      readonly think_time?: 'fixed' | 'exponential'
      readonly stagger?: QuantityText
    }

export interface ClassText {
  readonly weight: number
  readonly kind?: 'random' | 'jsonl' | 'sharegpt' | 'batch'
  readonly path?: string
  readonly prompt?: LengthText
  readonly output?: LengthText
  readonly scenario?: string
  readonly prefix_hit_rate?: QuantityText
  readonly shared_prefix?: QuantityText
}

/** plimsoll.yaml as it is written: the shape that `config-schema.ts` checks. Its names are public, hence snake case. */
export interface ConfigFile {
  readonly target?: {
    readonly url?: string
    readonly api?: ApiKind
    readonly stream?: boolean
    readonly endpoint?: string
    readonly model?: string
    readonly models?: Readonly<Record<string, number>>
    readonly key?: { readonly env: string }
    readonly headers?: Pairs
    readonly insecure?: boolean
    readonly http2?: boolean
    readonly aws_sigv4?: string
    readonly ca?: string
    readonly metrics?: readonly string[]
    readonly replica_header?: string
    readonly kv_tokens?: QuantityText
  }
  readonly workload?: {
    readonly kind?: 'random' | 'jsonl' | 'sharegpt' | 'batch' | 'trace' | 'mix'
    readonly path?: string
    readonly prompt?: LengthText
    readonly output?: LengthText
    readonly scenario?: string
    readonly prefix_hit_rate?: QuantityText
    readonly shared_prefix?: QuantityText
    readonly speed?: QuantityText
    readonly turns?: QuantityText
    readonly turn_think?: QuantityText
    readonly classes?: Readonly<Record<string, ClassText>>
    readonly cancel?: { readonly share: QuantityText; readonly after?: QuantityText }
    readonly ignore_eos?: boolean
    readonly extra_body?: Readonly<Record<string, unknown>>
    readonly body_template?: string
    readonly tokenizer?: string
    readonly salt?: string
    readonly warm_prefix?: boolean
  }
  readonly arrivals?: ArrivalsText
  readonly window?: {
    readonly warmup?: QuantityText
    readonly measure?: QuantityText
    readonly requests?: QuantityText
    readonly drain?: QuantityText
  }
  readonly seed?: QuantityText
  readonly objectives?: Readonly<
    Record<
      string,
      {
        readonly each?: string
        readonly good?: QuantityText
        readonly over?: string
        readonly shed?: 'bad' | 'ignore'
      }
    >
  >
  readonly slo?: SloSection
  readonly capacity?: {
    readonly at?: string
    readonly margin?: string
    readonly survive?: number
    readonly peak?: QuantityText
  }
  readonly sweep?: {
    readonly concurrency?: 'auto' | readonly number[]
    readonly rates?: 'auto' | readonly QuantityText[]
    readonly points?: QuantityText
    readonly duration_per_point?: QuantityText
    readonly confirm?: boolean
  }
  readonly client?: {
    readonly workers?: QuantityText
    readonly timeouts?: {
      readonly connect?: QuantityText
      readonly first_token?: QuantityText
      readonly idle?: QuantityText
      readonly total?: QuantityText
    }
    readonly keep_text?: boolean
  }
  readonly output?: {
    readonly name?: string
    readonly runs_dir?: string
    readonly percentiles?: readonly number[]
    readonly percentile_type?: '1' | '6' | '7' | 'floor'
    readonly metadata?: Pairs
  }
  readonly engine?: Readonly<Record<string, string | number | boolean>>
  readonly matrix?: Readonly<Record<string, readonly (string | number | boolean)[]>>
  readonly repeat?: number
  readonly faults?: readonly string[]
}
