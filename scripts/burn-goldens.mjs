// Numeric truths of error budgets (family Q9), from the product's own functions; used by goldens.mjs. Undefined: not understood.
const burn = await import('../dist/operate/slo/burn.js')
const { allowedBadShare, budgetRequests, hoursLeftByEvents } = await import('../dist/operate/slo/budget.js')
const { rational, toNumber, toRational } = await import('../dist/stats/rational.js')

const number = (value) => (value === null ? null : toNumber(value))
const finite = (rate) => ({ kind: 'finite', rate: toRational(rate) })
const days = (rate, period = 30, remaining = 1) => {
  const left = burn.daysLeft(rate, period, remaining)
  return left === null ? Number.POSITIVE_INFINITY : toNumber(left)
}
const threshold = (key) => /^page_(?:at|seed_threshold)_([\d.]+)$/.exec(key)?.[1]
const each = (expected, of) =>
  typeof expected === 'object' && expected !== null
    ? Object.fromEntries(Object.keys(expected).map((key) => [key, of(key)]))
    : of('value')

export function burnGolden(i, expected) {
  const has = (...keys) => keys.every((key) => key in i)
  if (has('budget_events', 'hour_requests', 'bad_ratio')) {
    return {
      bad_per_h: i.hour_requests * i.bad_ratio,
      hours_left: hoursLeftByEvents(i.budget_events, i.hour_requests, i.bad_ratio),
    }
  }
  if (has('slo', 'threshold', 'window_min', 'bad_ratio')) {
    return number(burn.timeToDetect(i.threshold, i.slo, i.window_min, i.bad_ratio))
  }
  if (has('slo', 'outage_min', 'bad_ratio_during')) {
    const over = (minutes) => burn.burnOverWindow(i.outage_min, minutes, i.bad_ratio_during, i.slo)
    return each(expected, (key) => {
      if (key === 'burn_5m') return burn.burnNumber(over(5))
      if (key === 'burn_1h') return burn.burnNumber(over(60))
      return threshold(key) === undefined ? undefined : burn.exceeds(over(60), threshold(key), '>=')
    })
  }
  if (has('period_h', 'rows')) {
    return i.rows.map(([percent, hours]) =>
      number(burn.burnThreshold(rational(percent, 100), hours, i.period_h)),
    )
  }
  if (has('burn_1h', 'burn_5m', 'threshold')) {
    const page = (least) => [i.burn_1h, i.burn_5m].every((rate) => burn.exceeds(finite(rate), least, '>='))
    return each(expected, (key) => page(threshold(key) ?? i.threshold))
  }
  if (has('burn', 'window_h', 'period_h')) return number(burn.budgetUsed(i.burn, i.window_h, i.period_h))
  if (has('burn', 'period_days')) return days(finite(i.burn), i.period_days, i.remaining_fraction ?? 1)
  if (has('slo', 'bad', 'total')) return evidence(i, expected)
  if (has('slo', 'requests')) return number(budgetRequests(i.slo, i.requests))
  if (has('slo', 'bad_ratio')) return ratio(i, expected)
  return undefined
}

function evidence(i, expected) {
  const found = burn.burnEvidence(i.bad, i.total, i.slo)
  if (found === null) return null
  const figures = {
    value: burn.burnNumber(found.burn),
    burn: burn.burnNumber(found.burn),
    ratio_lo: found.ratio[0],
    ratio_hi: found.ratio[1],
    burn_lo: found.burnInterval?.[0],
    burn_hi: found.burnInterval?.[1],
    cp_lo: found.exactLow,
    significant: found.significant,
    p_at_least_1_under_slo: found.chanceOfAny,
  }
  return each(expected, (key) => figures[key])
}

function ratio(i, expected) {
  const rate = burn.burnRate(i.bad_ratio, i.slo)
  // The mistake that floats make is computed here, not by the product.
  const naive = Number(i.bad_ratio) / (1 - Number(i.slo))
  const figures = {
    value: burn.burnNumber(rate),
    burn: burn.burnNumber(rate),
    days: days(rate),
    budget: number(allowedBadShare(i.slo)),
    naive_burn: naive,
    naive_float_burn: naive,
    naive_ge_6: naive >= 6,
    exact_ge_6: burn.exceeds(rate, 6, '>='),
    naive_days: 30 / naive,
  }
  return each(expected, (key) => figures[key])
}
