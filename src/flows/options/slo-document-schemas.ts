import * as v from 'valibot'

/** The documents that `plimsoll slo … --json` and `plimsoll doctor --json` print. */

const number = v.number()
const maybe = v.nullable(v.number())
const text = v.string()
const maybeText = v.nullable(v.string())
const interval = v.nullable(v.array(number))

const window = v.strictObject({
  window: text,
  burn: maybe,
  infinite: v.boolean(),
  why: v.nullable(v.picklist(['idle', 'untold', 'bad_data'])),
  bad: maybe,
  total: maybe,
  assumed: v.boolean(),
  burn_interval: interval,
})

export const sloPageSchema: v.GenericSchema = v.strictObject({
  schema: v.literal('plimsoll.slo-page/1'),
  page: v.boolean(),
  objectives: v.array(
    v.strictObject({
      name: maybeText,
      objective: text,
      period: text,
      budget_requests: maybe,
      policies: v.array(
        v.strictObject({
          policy: text,
          comparator: v.picklist(['>', '>=']),
          verdict: v.picklist(['page', 'no', 'unknown']),
          bad_data: v.array(text),
          alerts: v.array(
            v.strictObject({
              severity: v.picklist(['page', 'ticket']),
              factor: number,
              verdict: v.picklist(['fires', 'silent', 'unknown']),
              held_back: maybeText,
              long: window,
              short: window,
              days_left: maybe,
            }),
          ),
        }),
      ),
    }),
  ),
})

export const sloBudgetSchema: v.GenericSchema = v.strictObject({
  schema: v.literal('plimsoll.slo-budget/1'),
  objectives: v.array(
    v.strictObject({
      name: maybeText,
      objective: text,
      period: text,
      allowed_share: number,
      budget_requests: maybe,
      downtime_s: number,
      bad: maybe,
      requests_seen: maybe,
      bad_share: maybe,
      burn: maybe,
      burn_interval: interval,
      spent: maybe,
      left: maybe,
      lasts: v.picklist(['time', 'never', 'gone', 'unknown']),
      lasts_s: maybe,
      basis: maybeText,
      left_out: v.array(text),
    }),
  ),
})

export const sloRulesSchema: v.GenericSchema = v.strictObject({
  schema: v.literal('plimsoll.slo-rules/1'),
  files: v.array(text),
  objectives: v.array(
    v.strictObject({
      service: text,
      name: text,
      objective: text,
      period: text,
      policy: text,
      comparator: v.picklist(['>', '>=']),
      watched: v.array(v.strictObject({ id: text, what: text, notes: v.array(text) })),
      joint: v.picklist(['counted', 'bounds']),
      alerts: v.array(
        v.strictObject({
          severity: v.picklist(['page', 'ticket']),
          long: text,
          short: text,
          factor: number,
          threshold: number,
          reachable: v.boolean(),
          minimum_requests: maybe,
          detect_s: v.record(text, maybe),
          spent_at_detection: number,
          stops_after_s: maybe,
        }),
      ),
    }),
  ),
})

export const sloTestSchema: v.GenericSchema = v.strictObject({
  schema: v.literal('plimsoll.slo-test/1'),
  promtool: v.picklist(['passed', 'failed', 'absent']),
  tests: number,
  objectives: number,
})

export const doctorSchema: v.GenericSchema = v.strictObject({
  schema: v.literal('plimsoll.doctor/1'),
  catalogue: text,
  engine: v.nullable(
    v.strictObject({
      url: text,
      name: maybeText,
      version: maybeText,
      metrics_shown: maybe,
      metrics_known: maybe,
      missing: v.array(text),
      unknown: v.array(text),
      other_buckets: v.array(text),
    }),
  ),
  prometheus: maybeText,
  files: v.array(
    v.strictObject({
      path: text,
      queries: number,
      series: number,
      not_checked: v.array(text),
      findings: v.array(
        v.strictObject({
          kind: text,
          severity: v.picklist(['error', 'warning']),
          line: maybe,
          column: maybe,
          message: text,
          suggestion: maybeText,
        }),
      ),
    }),
  ),
})
