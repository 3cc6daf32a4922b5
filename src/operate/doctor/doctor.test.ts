import { describe, expect, it } from 'vitest'
import { parsePrometheusText } from '../../measure/wire/prometheus-text.ts'
import { catalogues } from '../catalogue/engines.ts'
import { checkQuery, type FindingKind } from './check-query.ts'
import { comparePage, detectEngine, examineUses, liveSeries } from './examine.ts'
import { isOneValue, selectorsOf } from './promql.ts'
import { lintQuery } from './lint-rules.ts'
import { readMetricUses, recordsOf } from './read-uses.ts'

const catalogueOnly = { engine: null, live: null }
const told = (query: string): [FindingKind, string | null][] =>
  checkQuery(query, catalogueOnly).map(({ kind, suggestion }) => [kind, suggestion])

describe('reading PromQL', () => {
  it('series, matchers, ranges and what is around them', () => {
    const [first, second] = selectorsOf(
      'histogram_quantile(0.95, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket{model_name="a", job=~"x|y"}[5m]))) > 2 and on (job) up',
    )
    expect(first).toMatchObject({
      name: 'vllm:e2e_request_latency_seconds_bucket',
      range: '5m',
      inside: ['rate', 'sum', 'histogram_quantile'],
      by: ['le'],
      matchers: [
        { label: 'model_name', operator: '=', value: 'a' },
        { label: 'job', operator: '=~', value: 'x|y' },
      ],
    })
    expect(second).toMatchObject({ name: 'up', inside: [], matchers: [] })
  })

  it.each([
    ['a name in braces', '{__name__="vllm:num_requests_waiting"}', ['vllm:num_requests_waiting']],
    ['comments and strings are no series', 'up{a="foo"} # bar', ['up']],
    ['labels of by and on are none', 'sum(a) by (b) / on (c) group_left (d) e', ['a', 'e']],
    ['modifiers', 'a offset 5m @ end() or b', ['a', 'b']],
    ['a subquery', 'max_over_time(rate(a[1m])[1h:5m])', ['a']],
    ['variables of a dashboard', 'rate(a{job="$job"}[$__rate_interval])', ['a']],
  ])('%s', (_, query, names) => expect(selectorsOf(query).map(({ name }) => name)).toEqual(names))

  it.each([
    ['a gauge as it stands', 'vllm:num_requests_waiting', false],
    ['summed', 'sum(vllm:num_requests_waiting)', true],
    ['summed by pod', 'sum by (pod) (vllm:num_requests_waiting)', false],
    ['summed by pod, behind', 'sum(vllm:num_requests_waiting) by (pod)', false],
    ['a quantile over buckets', 'histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))', true],
    ['a sum over a sum', 'sum(a) / sum(b)', true],
    ['a sum over a bare one', 'sum(a) / b', false],
  ])('one value: %s', (_, query, one) => expect(isOneValue(query)).toBe(one))
})

// Queries of the kind that were shipped with autoscalers and dashboards and found nothing.
describe('drift between queries and engines', () => {
  it.each<[string, string, [FindingKind, string | null][]]>([
    [
      'a hit rate without _total',
      'rate(vllm:prefix_cache_hits{namespace="a"}[5m]) / rate(vllm:prefix_cache_queries{namespace="a"}[5m])',
      [
        ['missing_total', 'vllm:prefix_cache_hits_total'],
        ['missing_total', 'vllm:prefix_cache_queries_total'],
      ],
    ],
    [
      'a histogram that was renamed',
      'rate(vllm:time_per_output_token_seconds_sum[1m]) / rate(vllm:time_per_output_token_seconds_count[1m])',
      [
        ['renamed', 'vllm:inter_token_latency_seconds_sum'],
        ['renamed', 'vllm:inter_token_latency_seconds_count'],
      ],
    ],
    [
      'a native histogram, which has no series of its own',
      'histogram_fraction(-Inf, 0.5, sum(increase(vllm:time_to_first_token_seconds[5m])))',
      [['wrong_type', null]],
    ],
    [
      'a classic one by its bare name',
      'rate(vllm:time_to_first_token_seconds[5m])',
      [['wrong_type', 'vllm:time_to_first_token_seconds_bucket']],
    ],
    ['the cache before V1', 'vllm:gpu_cache_usage_perc', [['renamed', 'vllm:kv_cache_usage_perc']]],
    [
      'a name that never was',
      'rate(vllm:num_requests_success_total[1m])',
      [['renamed', 'vllm:request_success_total']],
    ],
    [
      'a name that breaks off',
      'sum(vllm:num_requests_wait)',
      [['unknown_metric', 'vllm:num_requests_waiting']],
    ],
    ['a letter too few', 'sum(vllm:num_request_running)', [['unknown_metric', 'vllm:num_requests_running']]],
    [
      'a word too many',
      'sum(vllm:num_requests_waiting_now)',
      [['unknown_metric', 'vllm:num_requests_waiting']],
    ],
    ['a prefix too much', 'rate(vllm:http_requests_total[1m])', [['renamed', 'http_requests_total']]],
    [
      'the label of another exporter',
      'vllm:num_requests_waiting{model="llama"}',
      [['wrong_label', 'model_name']],
    ],
    ['an underscore for the colon', 'vllm_num_requests_running', [['renamed', 'vllm:num_requests_running']]],
    [
      'a bound spelled one way',
      'rate(vllm:time_to_first_token_seconds_bucket{le="1"}[5m])',
      [['le_spelling', 'le=~"1([.]0)?"']],
    ],
    [
      'a bound that is not there',
      'rate(vllm:time_to_first_token_seconds_bucket{le="2"}[5m])',
      [['no_bucket', null]],
    ],
    ['what is gone', 'llamacpp:kv_cache_usage_ratio', [['renamed', null]]],
    [
      'SGLang before its rename',
      'rate(sglang:time_per_output_token_seconds_bucket[5m])',
      [['renamed', 'sglang:inter_token_latency_seconds_bucket']],
    ],
    [
      'the picker’s old prefix',
      'rate(inference_objective_request_total[5m])',
      [['renamed', 'llm_d_epp_request_total']],
    ],
    ['TGI has no _total', 'rate(tgi_request_count_total[5m])', [['unknown_metric', 'tgi_request_count']]],
    [
      'a rate of a gauge',
      'rate(vllm:num_requests_running[5m])',
      [['wrong_type', 'deriv(vllm:num_requests_running[5m]), or the gauge itself']],
    ],
    [
      'a counter as it stands',
      'vllm:num_preemptions_total > 100',
      [['wrong_type', 'rate(vllm:num_preemptions_total[5m])']],
    ],
    [
      'a quantile of a mean',
      'histogram_quantile(0.9, rate(vllm:e2e_request_latency_seconds_sum[5m]))',
      [['wrong_type', 'vllm:e2e_request_latency_seconds_bucket']],
    ],
    [
      'a histogram that looks like a counter',
      'rate(vllm:iteration_tokens_total[5m])',
      [['wrong_type', 'vllm:iteration_tokens_total_bucket']],
    ],
    ['a right one', 'sum by (model_name) (rate(vllm:generation_tokens_total{job="x"}[5m]))', []],
    [
      'a right quantile',
      'histogram_quantile(0.99, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))',
      [],
    ],
    ['what is not an engine’s', 'rate(node_cpu_seconds_total{mode="idle"}[5m])', []],
    ['a record of rules', 'slo:bad:increase5m{slo="x"} > 1', []],
  ])('%s', (_, query, findings) => expect(told(query)).toEqual(findings))
})

// How a query counts, whatever its metrics are called.
describe('pitfalls of rules', () => {
  const lints = (query: string): FindingKind[] => lintQuery(query).map(({ kind }) => kind)
  it.each<[string, string, FindingKind[]]>([
    [
      'a mean of ratios',
      'sum_over_time(sli:ratio_rate5m[30d]) / count_over_time(sli:ratio_rate5m[30d])',
      ['time_weighted'],
    ],
    ['the same in one word', 'avg_over_time(sli:error_ratio[1d])', ['time_weighted']],
    ['events over events', 'sum_over_time(bad:increase5m[30d]) / sum_over_time(all:increase5m[30d])', []],
    [
      'errors that do not exist yet',
      'sum(rate(x_total{code=~"5.."}[5m])) / sum(rate(x_total[5m]))',
      ['absent_is_not_zero'],
    ],
    [
      'the same, guarded',
      '(sum(rate(x_total{code=~"5.."}[5m])) or 0 * sum(rate(x_total[5m]))) / sum(rate(x_total[5m]))',
      [],
    ],
    ['14.4 x 10 %', 'sli:ratio_rate1h > (14.4 * 0.1)', ['unreachable']],
    ['14.4 x 0.1 %', 'sli:ratio_rate1h > (14.4 * 0.001)', []],
    ['a window rounded away', 'http:burnrate0s > 0.1', ['zero_window']],
    ['a mean of quantiles', 'avg(x_seconds{quantile="0.99"})', ['summary']],
  ])('%s', (_, query, kinds) => expect(lints(query)).toEqual(kinds))

  it('a record that no rule makes', () => {
    const file =
      'groups:\n- name: a\n  rules:\n  - record: slo:x:ratio_rate5m\n    expr: up\n  - alert: A\n    expr: slo:x:ratio_rate30m > 0.1\n'
    const uses = examineUses(readMetricUses(file, 'r.yaml'), catalogueOnly, recordsOf(file))
    expect(uses.flatMap(({ findings }) => findings)).toMatchObject([
      { kind: 'undefined_record', suggestion: 'slo:x:ratio_rate5m' },
    ])
  })
})

const scaledObject = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: vllm }
spec:
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus:9090
        metricName: vllm:num_requests_waiting
        query: vllm:num_requests_waiting{model="llama"}
        threshold: '5'
`

describe('files', () => {
  it('a ScaledObject: the label, the number of values, and what silence does', () => {
    const uses = examineUses(readMetricUses(scaledObject, 'so.yaml'), catalogueOnly)
    const query = uses.find(({ use }) => use.kind === 'autoscaler')
    expect(query?.use.where).toEqual({ file: 'so.yaml', line: 10, column: 16 })
    expect(query?.findings.map(({ kind }) => kind)).toEqual([
      'wrong_label',
      'several_values',
      'silence_is_zero',
    ])
  })

  it('with ignoreNullValues off and one value nothing is left', () => {
    const text = scaledObject
      .replace('vllm:num_requests_waiting{model="llama"}', 'sum(vllm:num_requests_waiting)')
      .replace("threshold: '5'", "threshold: '5'\n        ignoreNullValues: 'false'")
    expect(
      examineUses(readMetricUses(text, 'so.yaml'), catalogueOnly).flatMap(({ findings }) => findings),
    ).toEqual([])
  })

  it.each([
    [
      'AIBrix: a bare name',
      'spec:\n  metricsSources:\n    - targetMetric: gpu_cache_usage_perc\n      targetValue: "0.5"\n',
      ['renamed'],
    ],
    [
      'an HPA',
      'kind: HorizontalPodAutoscaler\nspec:\n  metrics:\n    - type: Pods\n      pods:\n        metric: { name: vllm_num_requests_waiting }\n        target: { type: AverageValue, averageValue: "5" }\n',
      ['renamed'],
    ],
    [
      'an HPA as plan writes it, on what an adapter makes of a query',
      'kind: HorizontalPodAutoscaler\nspec:\n  metrics:\n    - type: External\n      external:\n        metric: { name: plimsoll_in_flight }\n',
      [],
    ],
    [
      'a rule file',
      'groups:\n  - name: a\n    rules:\n      - alert: X\n        expr: vllm:gpu_cache_usage_perc > 0.9\n',
      ['renamed'],
    ],
    [
      'a dashboard in JSON',
      JSON.stringify({
        panels: [{ targets: [{ expr: 'rate(vllm:prompt_tokens[1m])' }] }],
        templating: {
          list: [
            { type: 'query', query: 'label_values(vllm:gpu_cache_usage_perc, model_name)' },
            { type: 'datasource', query: 'prometheus' },
          ],
        },
      }),
      ['missing_total', 'renamed'],
    ],
  ])('%s', (_, text, kinds) => {
    const uses = examineUses(readMetricUses(text, 'f.yaml'), catalogueOnly)
    expect(uses.flatMap(({ findings }) => findings.map(({ kind }) => kind))).toEqual(kinds)
  })

  it('what is neither YAML nor JSON is refused with its place', () => {
    expect(() => readMetricUses('a: [1', 'x.yaml')).toThrow('neither YAML nor JSON')
  })
})

const page = `# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="llama"} 3.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.3",model_name="llama"} 1.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="llama"} 1.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="llama"} 1.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="llama"} 0.2
# TYPE vllm:brand_new gauge
vllm:brand_new 1.0
`

describe('a live engine', () => {
  const scrape = parsePrometheusText(page)
  const live = liveSeries(scrape)
  it('is known by its names, and compared with the catalogue', () => {
    expect(detectEngine(scrape)).toBe('vllm')
    const difference = comparePage(live, catalogues.vllm)
    expect(difference).toMatchObject({
      shown: 2,
      unknown: ['vllm:brand_new'],
      otherBounds: ['vllm:time_to_first_token_seconds'],
    })
    expect(detectEngine(parsePrometheusText('up 1\n'))).toBeNull()
  })

  it.each<[string, string, FindingKind[]]>([
    ['a model that is not served', 'vllm:num_requests_waiting{model_name="qwen"}', ['label_value']],
    ['the model that is', 'vllm:num_requests_waiting{model_name="llama"}', []],
    ['a metric that is switched off', 'rate(vllm:corrupted_requests_total[5m])', ['not_exported']],
    ['a bound that this one has', 'rate(vllm:time_to_first_token_seconds_bucket{le="0.3"}[5m])', []],
    [
      'a bound that others have',
      'rate(vllm:time_to_first_token_seconds_bucket{le="0.5"}[5m])',
      ['no_bucket'],
    ],
    ['a metric newer than the catalogue', 'vllm:brand_new', []],
  ])('%s', (_, query, kinds) => {
    expect(checkQuery(query, { engine: 'vllm', live }).map(({ kind }) => kind)).toEqual(kinds)
  })
})
