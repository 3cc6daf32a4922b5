// One run's answer to one question: is an interval shown, and does it hold the truth?
import { pool, pooledEffectiveSize } from '../../dist/measure/metrics/pooled-values.js'
import {
  exceedanceMemory,
  nearestRank,
  oneSidedUpperRank,
  orderStatisticInterval,
  sortAscending,
  swingsNeeded,
  tailClustersForInterval,
} from '../../dist/stats/index.js'

/** Of one value a request. Null where the percentile has no tail at all. */
export function tryValues(values, level, truth, swings) {
  const sorted = sortAscending(values)
  const estimate = sorted[nearestRank(values.length, level) - 1]
  const { tau, nEff } = exceedanceMemory(values, estimate)
  return tau === null ? null : attempt({ sorted, estimate, tau, nEff, level, truth, swings })
}

/** Of many values a request, pooled: gaps. */
export function tryPooled(lists, level, truth, swings) {
  const pooled = pool(lists)
  const sorted = sortAscending(pooled.values)
  const estimate = sorted[nearestRank(sorted.length, level) - 1]
  const nEff = pooledEffectiveSize(pooled, estimate)
  if (nEff === null) return null
  return attempt({ sorted, estimate, tau: sorted.length / nEff, nEff, level, truth, swings })
}

function attempt({ sorted, estimate, tau, nEff, level, truth, swings }) {
  const n = sorted.length
  const share = Number(level) / 100
  const clusters = nEff * Math.min(share, 1 - share)
  const effective = Math.floor(nEff)
  return {
    clusters,
    tau,
    swings,
    relative: estimate / truth - 1,
    enough: clusters >= tailClustersForInterval && swings >= swingsNeeded(level),
    swung: swings >= swingsNeeded(level),
    corrected: holds(sorted, orderStatisticInterval(effective, level, '0.95'), n / effective, truth),
    naive: holds(sorted, orderStatisticInterval(n, level, '0.95'), 1, truth),
    upper: upperHolds(sorted, oneSidedUpperRank(effective, level, '0.95'), n / effective, truth),
  }
}

/** Whether [x(low), x(high)] holds the truth; null where an end does not exist, so that nothing is shown. */
function holds(sorted, { lowRank, highRank }, scale, truth) {
  if (lowRank === null || highRank === null) return null
  const low = sorted[Math.max(1, Math.floor(lowRank * scale)) - 1]
  const high = sorted[Math.min(sorted.length, Math.ceil(highRank * scale)) - 1]
  return low <= truth && truth <= high
}

function upperHolds(sorted, rank, scale, truth) {
  return rank === null ? null : truth <= sorted[Math.min(sorted.length, Math.ceil(rank * scale)) - 1]
}
