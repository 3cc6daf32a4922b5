import { describe, expect, it } from 'vitest'
import { placeIn, syntaxFault } from './syntax-fault.ts'

describe('what no PromQL can be made of, and where', () => {
  it.each([
    ['a call that is not closed', 'sum(rate(foo_bar[5m])', '( is not closed by )', 3],
    ['one bracket too many', 'sum(up))', ') closes nothing', 7],
    ['a bracket of another kind', 'sum(up]', '] stands where ) would close the ( before it', 6],
    ['a quote that is not closed', 'up{job="a}', 'the quote " is not closed', 7],
    ['braces that are not closed', 'up{job="a"', '{ is not closed by }', 2],
    ['a matcher without quotes', 'up{job=vllm}', 'job=vllm is no matcher such as job="vllm"', 3],
    ['a matcher without an operator', 'up{job="a", pod}', 'pod is no matcher such as job="vllm"', 12],
    ['a range without a unit that exists', 'rate(x_total[5x])', '[5x] is no range such as [5m]', 12],
    ['an empty range', 'rate(x_total[])', '[] is no range such as [5m]', 12],
    ['an offset that is none', 'up offset soon', 'soon is no offset such as 5m', 10],
    ['a mark that PromQL has not', 'up & down', '& is no mark of PromQL', 3],
    ['an operator with nothing behind it', 'sum(a) /', 'nothing stands behind /', 7],
    ['an operator with nothing behind it in brackets', 'sum(a / ) + 1', 'nothing stands behind /', 8],
    ['an operator with nothing before it', '/ b', 'nothing stands before /', 0],
    ['a word with nothing behind it', 'a and', 'nothing stands behind and', 2],
    ['comments alone', '# nothing\n', 'nothing is asked', 0],
  ])('%s', (_, query, message, at) => expect(syntaxFault(query)).toEqual({ message, at }))

  it.each([
    'up',
    '1e-3 + -x ^ 2',
    'time() - max(timestamp(up))',
    'histogram_quantile(0.95, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket{model_name="a", job=~"x|y"}[5m]))) > 2 and on (job) up',
    'sum(rate(a{b=\'c}\', d!~"e{2}",}[1h30m])) # a comment ( with a bracket',
    'max_over_time(rate(a[1m])[1h:5m] offset -5m) or vector(0)',
    'max_over_time(rate(a[1m])[1h:])',
    'a @ 1609746000.5 offset 5m',
    '{__name__="vllm:num_requests_waiting"}',
    '{"metric.with.dots", "label.x"="v"}',
    'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)',
    'rate(a{job="$job", pod=~"${pod:regex}"}[$__rate_interval])',
    'rate(a{job="{{ .Values.job }}"}[{{ .Values.window }}])',
    'sum(a) by (le) / ignoring (code) group_left () sum(b)',
    'a == bool 1 unless b',
    'count_values("version", build)',
  ])('%s is left alone', (query) => expect(syntaxFault(query)).toBeNull())

  it('places are counted by lines', () => expect(placeIn('sum(\n  a', 7)).toEqual({ line: 2, column: 3 }))
})
