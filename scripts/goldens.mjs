// Runs the entries of a file of numeric truths through the product's own public functions, by family.
//   npm run goldens -- FILE
// A line for each entry, then `N passed, N failed`. Entries of no family are named and not counted.
import { readFileSync } from 'node:fs'
import { burnGolden } from './burn-goldens.mjs'
import { seriesOf } from './series-text.mjs'

const stats = await import('../dist/stats/index.js')
const { replicasFor } = await import('../dist/plan/replicas.js')

const missing = Symbol('not understood')

const families = {
  numeric,
  percentile,
  percentile_ci: interval,
  histogram,
  steady_state: steady,
  Q4: queue,
  Q5: tail,
  Q8: replicas,
  Q9: errorBudget,
}

const path = process.argv[2]
if (path === undefined) {
  console.error('usage: npm run goldens -- FILE')
  process.exit(2)
}
let entries
try {
  entries = JSON.parse(readFileSync(path, 'utf8'))
  if (!Array.isArray(entries)) throw new Error('not a list of entries')
} catch (error) {
  console.error(`${path}: ${error.message}`)
  process.exit(2)
}

let passed = 0
let failed = 0
for (const { id, question, inputs, expected, tolerance = {} } of entries) {
  let actual
  try {
    actual = families[question] === undefined ? missing : families[question](inputs, expected)
  } catch (error) {
    // An impossible input is refused with one of the product's own errors; the truth of such an entry is null.
    if (error.name !== 'PlimsollError') {
      failed++
      console.log(`failed  ${id}: ${error.stack}`)
      continue
    }
    actual = null
  }
  if (actual === missing) {
    console.log(`other   ${id}`)
    continue
  }
  const wrong = differences(actual, expected, tolerance)
  if (wrong.length === 0) {
    passed++
    console.log(`passed  ${id}`)
  } else {
    failed++
    console.log(`failed  ${id}: ${wrong.join('; ')}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function has(inputs, ...keys) {
  return keys.every((key) => key in inputs)
}

function numeric(i) {
  const level = (names) => Number(names.map((name) => i[name]).find((value) => value !== undefined))
  const { fn } = i
  const functions = {
    t_quantile: () => stats.tQuantile(level(['p', 'q']), i.df),
    t_cdf: () => stats.tCdf(level(['t', 'x']), i.df),
    normal_quantile: () => stats.normalQuantile(level(['p', 'q'])),
    normal_cdf: () => stats.normalCdf(level(['z', 'x'])),
    binomial_cdf: () => stats.binomialCdf(i.k, i.n, i.p),
    binomial_pmf: () => stats.binomialMass(i.k, i.n, i.p),
    binomial_quantile: () => stats.binomialQuantile(i.q, i.n, i.p),
    beta_quantile: () => stats.betaQuantile(level(['q', 'p']), i.a, i.b),
    beta_cdf: () => stats.betaCdf(i.x, i.a, i.b),
    lgamma: () => stats.logGamma(i.x),
    poisson_cdf: () => stats.poissonCdf(i.k, level(['mean', 'lambda'])),
    poisson_quantile: () => stats.poissonQuantile(level(['q', 'p']), level(['mean', 'lambda'])),
  }
  return functions[fn]?.() ?? missing
}

function percentile(i, expected) {
  const p = String(i.p)
  if (Array.isArray(i.xs)) {
    const sorted = stats.sortAscending(i.xs)
    return pick(expected, (key) => {
      const type = /^type(\d)$/.exec(key)?.[1]
      return type === undefined ? rule(sorted, p, key) : stats.percentile(sorted, p, type)
    })
  }
  const span = /^(\d+)\.\.(\d+)$/.exec(String(i.xs))
  if (span !== null) {
    const [first, last] = [Number(span[1]), Number(span[2])]
    const values = Array.from({ length: last - first + 1 }, (_, k) => first + k)
    return pick(expected, (key) => rule(values, p, key))
  }
  if (has(i, 'n', 'p')) {
    const rank = stats.nearestRank(i.n, p)
    if (typeof expected === 'number') return rank
    // The mistake is computed here, not by the product.
    return pick(
      expected,
      (key) => ({ rank, naive_float_ceil: Math.ceil((Number(i.p) / 100) * i.n) })[key] ?? missing,
    )
  }
  return missing
}

/** Rules of other tools: those that the product offers by type, the rest as the mistakes that they are. */
function rule(values, p, key) {
  const n = values.length
  const share = Number(p) / 100
  switch (key) {
    case 'nearest_rank':
      return stats.percentile(values, p)
    case 'numpy_linear':
    case 'k6_linear':
      return stats.percentile(values, p, '7')
    case 'mlperf_oha_floor_index':
    case 'floor_index_mlperf_oha':
      return stats.percentile(values, p, 'floor')
    case 'guidellm_cumsum_float': {
      let sum = 0
      return values.find(() => (sum += 1 / n) >= share) ?? values.at(-1)
    }
    case 'node_perf_hooks_round':
      return values[Math.max(1, Math.floor(share * n + 0.5)) - 1]
    case 'ddsketch_lower_rank':
      return values[Math.floor(share * (n - 1))]
    default:
      return missing
  }
}

function interval(i, expected) {
  if (has(i, 'p', 'n', 'conf')) {
    const found = stats.orderStatisticInterval(i.n, String(i.p), i.conf)
    return { lo_rank: found.lowRank, hi_rank: found.highRank, coverage: found.coverage }
  }
  if (has(i, 'n', 'over', 'slo_p')) {
    if (Array.isArray(i.over)) return i.over.map((over) => stats.sloProof(i.n, over, i.slo_p).proven)
    const found = stats.sloProof(i.n, i.over, i.slo_p)
    return { p_value: found.pValue, proven_95: found.proven, cp_upper95_one_sided: found.overShareUpper }
  }
  if (has(i, 'confidence')) {
    return pick(expected, (key) => {
      const match = /^p([\d_.]+)_t(\d+)(?:_total)?$/.exec(key)
      return match === null
        ? missing
        : stats.earlyStoppingTotal(match[1].replace('_', '.'), i.confidence, Number(match[2]))
    })
  }
  if (has(i, 'rho')) return Array.isArray(i.rho) ? i.rho.map(stats.ar1Iact) : stats.ar1Iact(i.rho)
  if (has(i, 'n', 'iact')) return i.n / i.iact
  if (has(i, 'cases')) {
    return i.cases.map(([n, p, tau]) => {
      const clusters = stats.tailClusters(n, String(p), tau)
      return { clusters, enough: clusters >= stats.tailClustersForEstimate }
    })
  }
  if (has(i, 'x', 'threshold')) {
    const values = Array.isArray(i.x) ? i.x : seriesOf(i.x)
    if (values === null) return missing
    const found = stats.exceedanceIact(values, i.threshold)
    return { tau: found.tau, window: found.window, n_eff: found.nEff }
  }
  if (has(i, 'p') && Object.keys(i).length === 1) {
    const found = stats.samplesNeeded(String(i.p), '0.95')
    return {
      n_100_beyond: found.hundredBeyond,
      n_10pct_exact: found.tenPercent,
      n_10_beyond: found.tenBeyond,
      n_upper95_exists: found.oneSidedUpper,
      n_two_sided95_exists: found.twoSided,
      n_upper99_exists_mlperf_h0: stats.samplesNeeded(String(i.p), '0.99').oneSidedUpper,
    }
  }
  return missing
}

function histogram(i, expected) {
  const buckets = (rows) => rows.map(([bound, count]) => [Number(bound), count])
  const quantile = (rows, q) => stats.classicQuantile(buckets(rows), q).value
  if (has(i, 'buckets', 'q')) return each(i.q, (q) => quantile(i.buckets, q))
  if (has(i, 'replicas', 'q')) {
    const merged = stats.classicQuantile(stats.mergeClassic(i.replicas.map(buckets)), i.q).value
    if (typeof expected === 'number') return merged
    const average = stats.mean(i.replicas.map((rows) => quantile(rows, i.q)))
    return pick(expected, (key) => ({ merged, avg_of_quantiles_wrong: average })[key] ?? missing)
  }
  if (has(i, 'scale')) {
    return each(i.scale, (scale) => ({
      base: stats.exponentialBase(scale),
      rel_err_mid: stats.exponentialRelativeError(scale),
    }))
  }
  if (has(i, 'max_buckets', 'range')) {
    const scale = stats.largestScale(i.range[0], i.range[1], i.max_buckets)
    return { max_scale: scale, rel_err: stats.exponentialRelativeError(scale) }
  }
  if (has(i, 'lower', 'upper', 'fraction')) {
    const linear = i.lower + (i.upper - i.lower) * i.fraction
    return { exponential: stats.geometricPosition(i.lower, i.upper, i.fraction), linear }
  }
  if (has(i, 'alpha', 'values')) {
    return i.values.map((value) => {
      const key = stats.logBucketKey(value, i.alpha)
      return { key, value: stats.logBucketValue(key, i.alpha) }
    })
  }
  if (has(i, 'alpha', 'range'))
    return each(i.alpha, (alpha) => stats.logBucketCount(i.range[0], i.range[1], alpha))
  if (has(i, 'digits', 'values')) {
    const layout = stats.logLinearLayout(Math.max(2, ...i.values) * 2, i.digits)
    return i.values.map((value) => stats.highestEquivalent(layout, value))
  }
  if (has(i, 'highest', 'digits') && (i.lowest ?? 1) === 1) {
    const layout = stats.logLinearLayout(i.highest, i.digits)
    return { sub_buckets: layout.subBuckets, buckets: layout.buckets, counts_len: layout.counters }
  }
  return missing
}

function steady(i, expected) {
  if (has(i, 'window_s', 'service_s', 'rate', 'policy')) {
    const found = stats.windowCounts(i.window_s, i.service_s, i.rate)
    return i.policy.map((policy) => ({
      requests: /drain/.test(policy) ? found.arrived : found.finishedInside,
    }))
  }
  const described = i.series ?? i.xs ?? i.x
  const values = Array.isArray(described) ? described : seriesOf(String(described))
  if (values === null) return missing
  const batch = i.batch ?? 5
  const rule = stats.mser(values, batch)
  const found = stats.classifySteadyState(values, { batch })
  const results = {
    batches: rule?.batches,
    d_star: rule?.cutBatches,
    objective: rule?.objective,
    truncate_obs: rule === null ? undefined : rule.cutBatches * batch,
    d_star_unrestricted: rule?.unrestrictedCutBatches,
    half_drift: found.halfDrift,
    half_p: found.halfP,
    class: found.kind,
  }
  return pick(expected, (key) => (key in results ? results[key] : missing))
}

function queue(i, expected) {
  if (!has(i, 'rho', 'servers')) return missing
  if (has(i, 'growth')) return stats.growthFactor(i.servers, i.rho, i.growth)
  const found = stats.multiServer(i.servers, i.rho)
  if (found === null || expected === null) return found
  const results = { p_wait: found.waitProbability, w_over_s: found.timeOverService }
  return pick(expected, (key) => results[key] ?? missing)
}

function tail(i, expected) {
  const rate = /^exponential\(([\d.]+)\)$/.exec(String(i.dist ?? ''))?.[1]
  if (rate === undefined || !has(i, 'n', 'p')) return missing
  const found = stats.exponentialPercentileScatter(i.n, String(i.p), 1 / Number(rate))
  if (found === null || expected === null) return found
  const results = {
    k: found.rank,
    mean: found.mean,
    sd: found.sd,
    cv: found.cv,
    p_underestimate: found.underestimates,
  }
  return pick(expected, (key) => results[key] ?? missing)
}

function errorBudget(i, expected) {
  const found = burnGolden(i, expected)
  return found === undefined ? missing : found
}

function replicas(i, expected) {
  if (!has(i, 'peak', 'per_gpu', 'margin')) return missing
  const found = replicasFor({
    peak: String(i.peak),
    perReplica: String(i.per_gpu),
    margin: String(i.margin),
    marginKind: i.kind ?? 'derate',
    imbalance: String(i.imbalance ?? 1),
    failures: i.failures ?? 0,
  })
  if (typeof expected === 'number' || expected === null) return found.total
  const results = {
    usable: stats.toNumber(found.usable),
    need: stats.toNumber(found.need),
    serving: found.serving,
    total: found.total,
    // The mistake is computed here, not by the product.
    naive_float_serving: Math.ceil(Number(i.peak) / (Number(i.per_gpu) * (1 - Number(i.margin)))),
  }
  return pick(expected, (key) => results[key] ?? missing)
}

function each(value, compute) {
  return Array.isArray(value) ? value.map(compute) : compute(value)
}

/** The expected keys, computed; `missing` as soon as one of them is not understood. */
function pick(expected, compute) {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return missing
  const found = {}
  for (const key of Object.keys(expected)) {
    found[key] = compute(key)
    if (found[key] === missing) return missing
  }
  return found
}

function differences(actual, expected, tolerance, at = '') {
  const said = `${at === '' ? 'value' : at} ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`
  if (expected === 'Infinity' || expected === '-Infinity') {
    return actual === expected || actual === Number(expected) ? [] : [said]
  }
  if (typeof expected === 'number') {
    const allowed = Math.max(tolerance.abs ?? 0, (tolerance.rel ?? 0) * Math.abs(expected))
    return typeof actual === 'number' && Math.abs(actual - expected) <= allowed ? [] : [said]
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return [said]
    if (Array.isArray(expected) && actual.length !== expected.length) return [said]
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(actual[key], value, tolerance, `${at}.${key}`),
    )
  }
  return actual === expected ? [] : [said]
}
