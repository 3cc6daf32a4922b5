import type { Finding } from './check-query.ts'
import { selectorsOf } from './promql.ts'

/** A lint of how a query counts, whatever its metrics are called. */
interface Lint {
  readonly find: (query: string) => readonly Finding[]
}

const warning = (kind: Finding['kind'], message: string, suggestion: string | null): Finding => ({
  kind,
  severity: 'warning',
  message,
  suggestion,
})

/** A mean of ratios weighs a night's request as a day's: a busy bad hour is under-counted, and one idle 0/0 is NaN for the whole window. */
const timeWeighted: Lint = {
  find: (query) =>
    selectorsOf(query)
      .filter(
        ({ name, inside }) =>
          /ratio|burnrate|error_rate/.test(name) &&
          (inside[0] === 'avg_over_time' ||
            (inside[0] === 'sum_over_time' && query.includes('count_over_time'))),
      )
      .slice(0, 1)
      .map(({ name }) =>
        warning(
          'time_weighted',
          `a mean of ${name} over time weighs idle hours like busy ones, and one NaN lasts for the whole window`,
          'sum_over_time of the bad events ÷ sum_over_time of all events',
        ),
      ),
}

/** An error counter that was never incremented does not exist: the ratio is empty, not 0. */
const lazyNumerator: Lint = {
  find(query) {
    const division = /sum[^/]*\{[^}]*(?:code|status|error|outcome|reason|err)[^}]*\}[^/]*\/\s*sum/i.exec(
      query,
    )
    if (division === null || /\bor\b/.test(query.slice(0, division.index + division[0].length))) return []
    return [
      warning(
        'absent_is_not_zero',
        'the error series does not exist before the first error, and the ratio is empty until then',
        '(sum(increase(errors[5m])) or 0 * sum(increase(total[5m]))) / (sum(increase(total[5m])) > 0)',
      ),
    ]
  },
}

/** A ratio cannot be over 1: `14.4 * 0.1` waits for 144 %. */
const unreachable: Lint = {
  find: (query) =>
    [
      ...query.matchAll(
        /ratio[\w:]*(?:\{[^}]*\})?\s*>=?\s*\(?\s*(\d+(?:\.\d+)?)\s*(?:\*\s*(\d+(?:\.\d+)?))?/g,
      ),
    ]
      .map(([, factor = '0', allowed = '1']) => Number(factor) * Number(allowed))
      .filter((threshold) => threshold >= 1)
      .slice(0, 1)
      .map((threshold) => ({
        kind: 'unreachable',
        severity: 'error',
        message: `a ratio is compared with ${Number(threshold.toPrecision(6))}: nothing can be that bad, so it never fires`,
        suggestion: null,
      })),
}

/** A window that was rounded away. */
const zeroWindow: Lint = {
  find: (query) =>
    /\[0+[smhd]?\]|(?:burnrate|ratio_rate|increase)0[smhd]\b/.test(query)
      ? [
          {
            kind: 'zero_window',
            severity: 'error',
            message: 'a window of length 0 holds nothing',
            suggestion: null,
          },
        ]
      : [],
}

/** A quantile that a client worked out cannot be added up or averaged. */
const summary: Lint = {
  find: (query) =>
    selectorsOf(query)
      .filter(
        ({ matchers, inside }) =>
          matchers.some(({ label }) => label === 'quantile') &&
          inside.some((name) => ['avg', 'sum'].includes(name)),
      )
      .slice(0, 1)
      .map(({ name }) =>
        warning(
          'summary',
          `${name} is a summary: the mean of quantiles is the quantile of nothing`,
          'a histogram of the same figure',
        ),
      ),
}

/** The pitfalls of rules for service levels, found by how a query counts. */
export function lintQuery(query: string): readonly Finding[] {
  return [timeWeighted, lazyNumerator, unreachable, zeroWindow, summary].flatMap(({ find }) => find(query))
}
