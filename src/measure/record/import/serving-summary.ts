import type { Published, PublishedMetric } from './imported-run.ts'
import { numberOf, type JsonRecord } from './json-value.ts'
import { publish } from './published.ts'

const metrics: Readonly<Record<string, PublishedMetric>> = {
  ttft: 'ttft_ms',
  tpot: 'tpot_ms',
  itl: 'gaps_ms',
  e2el: 'e2e_ms',
  e2e_latency: 'e2e_ms',
}

const statistics: Readonly<Record<string, string>> = {
  mean: 'mean',
  median: '50',
  std: 'std',
  max: 'max',
  min: 'min',
}

const rates: Readonly<Record<string, readonly [PublishedMetric, Published['unit']]>> = {
  request_throughput: ['requests_per_s', 'req/s'],
  output_throughput: ['output_tokens_per_s', 'tok/s'],
  input_throughput: ['input_tokens_per_s', 'tok/s'],
  total_token_throughput: ['other', 'tok/s'],
  total_throughput: ['other', 'tok/s'],
  request_goodput: ['other', 'req/s'],
}

/** The summary keys that vLLM and SGLang share: `p99_ttft_ms`, `request_throughput`, … */
export function servingSummary(root: JsonRecord, ok: number | null): Published[] {
  const found: Published[] = []
  for (const [key, value] of Object.entries(root)) {
    const latency = /^(mean|median|std|min|max|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el|e2e_latency)_ms$/.exec(key)
    if (latency !== null) {
      const metric = metrics[latency[2] ?? ''] ?? 'other'
      const statistic = statistics[latency[1] ?? ''] ?? (latency[1] ?? '').slice(1)
      // A tool that did not see the stream writes 0 for all of a metric: that of one gap can be real, that of all cannot.
      const allZero = ['mean', 'median', 'p99'].every(
        (one) => (numberOf(root[`${one}_${latency[2]}_ms`]) ?? 0) === 0,
      )
      found.push(
        publish(key, value, metric, statistic, {
          ok,
          zeroIsNone: metric === 'gaps_ms' ? allZero && (ok ?? 0) > 0 : statistic !== 'std' || allZero,
        }),
      )
      continue
    }
    const rate = Object.hasOwn(rates, key) ? rates[key] : undefined
    if (rate !== undefined && value !== null)
      found.push(publish(key, value, rate[0], 'rate', { unit: rate[1], ...(ok === 0 ? {} : {}) }))
  }
  return found
}
