import { betaQuantile } from '../../src/stats/beta.ts'
import { binomialCdf } from '../../src/stats/binomial.ts'
import { normalQuantile } from '../../src/stats/normal.ts'
import { tQuantile } from '../../src/stats/student-t.ts'

type Numeric =
  | { readonly fn: 't_quantile'; readonly p: number; readonly df: number }
  | { readonly fn: 'normal_quantile'; readonly p: number }
  | { readonly fn: 'binomial_cdf'; readonly k: number; readonly n: number; readonly p: number }
  | { readonly fn: 'beta_quantile'; readonly q: number; readonly a: number; readonly b: number }

/** The `numeric` entries, which all name their function. */
export function numericGolden(i: Numeric): number {
  switch (i.fn) {
    case 't_quantile':
      return tQuantile(i.p, i.df)
    case 'normal_quantile':
      return normalQuantile(i.p)
    case 'binomial_cdf':
      return binomialCdf(i.k, i.n, i.p)
    default:
      return betaQuantile(i.q, i.a, i.b)
  }
}
