import { describe, expect, it } from 'vitest'
import { vllmPage } from '../../../test/fixtures/pages.ts'
import { parseObjective } from '../../measure/metrics/parse-objective.ts'
import { cpuBusy, readMachineSample } from '../../measure/load/machine-facts.ts'
import { parsePrometheusText, type Scrape } from '../../measure/wire/prometheus-text.ts'
import { rational, toNumber } from '../../stats/rational.ts'
import { burnNumber } from '../slo/burn.ts'
import { addAttempts, answeredShare, type Attempts } from './answered-share.ts'
import { joinPages, replicaPages, splitByInstance } from './by-instance.ts'
import { latencyNames } from './latency-series.ts'
import {
  alertState,
  burnBetween,
  jointShare,
  jointWithAnswers,
  pageRules,
  sharedObjectives,
  shareWithin,
  type ShareBetween,
} from './objective-share.ts'
import { ReplicaHistory } from './replica-history.ts'

const page = (
  ttft: readonly [number, number, number],
  over: Partial<Parameters<typeof vllmPage>[0]> = {},
): Scrape => parsePrometheusText(vllmPage({ running: 1, waiting: 0, ttft, ...over }))

describe('shares of objectives', () => {
  const buckets = {
    buckets: [
      { le: 0.25, leText: '0.25', count: 50 },
      { le: 0.5, leText: '0.5', count: 90 },
      { le: Number.POSITIVE_INFINITY, leText: '+Inf', count: 100 },
    ],
    sum: 30,
    count: 100,
  }
  it.each([
    ['a bucket ends at the limit: exact', 500, 0.9, 0.9],
    ['between two buckets: between their shares', 300, 0.5, 0.9],
    ['under the first', 100, 0, 0.5],
    ['above the last', 900, 0.9, 1],
  ])('%s', (_, limitMs, low, high) => {
    const share = shareWithin(buckets, limitMs)
    expect([toNumber(share!.low), toNumber(share!.high), share!.n]).toEqual([low, high, 100])
  })
  it('nothing observed is no share, not 0 or 1', () => {
    expect(shareWithin(null, 500)).toBeNull()
    expect(shareWithin({ buckets: [], sum: 0, count: 0 }, 500)).toBeNull()
  })
  const share = (low: number, high: number): ShareBetween => ({
    low: rational(low, 1000),
    high: rational(high, 1000),
    n: 10,
  })
  it('jointly only bounds: from the sum less one to the least', () => {
    const joint = jointShare([share(950, 950), share(900, 990)])
    expect([toNumber(joint!.low), toNumber(joint!.high)]).toEqual([0.85, 0.95])
    expect(toNumber(jointShare([share(400, 400), share(300, 300)])!.low)).toBe(0)
    expect(jointShare([share(1, 1), null])).toBeNull()
    expect(jointShare([])).toBeNull()
  })
  it('objectives as histograms can answer them', () => {
    const found = sharedObjectives(
      parseObjective('ttft < 500ms and tpot < 30ms and p99 tpot <= 10ms, good 99.5%'),
    )
    expect(found.map(({ text, target, limits }) => [text, toNumber(target), limits.length])).toEqual([
      ['ttft < 500ms and tpot < 30ms', 0.995, 2],
      ['p99 tpot <= 10ms', 0.99, 1],
    ])
  })
  it('3 % bad at 99.5 % burns exactly 6x: a page by the lesson, none by the workbook', () => {
    const burn = burnBetween(share(970, 970), rational(995, 1000))
    expect([burnNumber(burn.low), burnNumber(burn.high)]).toEqual([6, 6])
    expect(pageRules.map((rule) => alertState(rule, [burn, burn]))).toEqual(['fires', 'quiet'])
  })
  it.each([
    ['bounds on both sides of the factor', [share(960, 980), share(960, 980)], 'may_fire'],
    ['one window not full', [share(900, 900), null], null],
    ['one window quiet settles it', [share(1000, 1000), null], 'quiet'],
    ['both over', [share(900, 900), share(950, 950)], 'fires'],
  ])('%s', (_, shares, state) => {
    const ends = shares.map((one) => (one === null ? null : burnBetween(one, rational(995, 1000))))
    expect(alertState(pageRules[0]!, ends)).toBe(state)
  })
})

describe('requests without an answer', () => {
  const watched = (...pages: readonly Partial<Parameters<typeof vllmPage>[0]>[]): Attempts | null => {
    const history = new ReplicaHistory('a', 60_000)
    pages.forEach((over, at) => history.observe(at * 1000, page([0, 0, 0], over)))
    const window = history.window(60_000)
    return window === null ? null : history.attempts(window.from, window.to)
  }
  it.each([
    ['5xx', [{ answers: { '2xx': 100 } }, { answers: { '2xx': 190, '5xx': 10 } }], [100, 10, 10]],
    [
      'an error that was an answer of 500 too is one request or two',
      [
        { answers: { '2xx': 0, '5xx': 0 }, finished: { error: 0, abort: 0 } },
        { answers: { '2xx': 90, '5xx': 10 }, finished: { error: 4, abort: 3 } },
      ],
      [100, 10, 17],
    ],
    [
      'without the web counter: finish reasons, an abort perhaps',
      [{ finished: { stop: 10, error: 0, abort: 0 } }, { finished: { stop: 100, error: 5, abort: 5 } }],
      [100, 5, 10],
    ],
    [
      'a restart counts from 0',
      [{ answers: { '2xx': 500, '5xx': 50 } }, { answers: { '2xx': 30, '5xx': 10 } }],
      [40, 10, 10],
    ],
    ['client errors are answers', [{ answers: { '4xx': 1 } }, { answers: { '4xx': 6 } }], [5, 0, 0]],
    ['other pages of the server are not counted', [{}, {}], null],
  ] as const)('%s', (_, pages, wanted) => {
    const attempts = watched(...pages)
    expect(attempts === null ? null : [attempts.total, attempts.failed, attempts.failedAtMost]).toEqual(
      wanted,
    )
  })
  it('are in every engine’s own counters', () => {
    const seen = (before: string, after: string): readonly number[] => {
      const history = new ReplicaHistory('a', 60_000)
      history.observe(0, parsePrometheusText(before))
      history.observe(1000, parsePrometheusText(after))
      const window = history.window(60_000)!
      const attempts = history.attempts(window.from, window.to)
      return attempts === null ? [] : [attempts.total, attempts.failed]
    }
    expect(
      seen(
        'sglang:num_requests_total 10\nsglang:num_aborted_requests_total 1\n',
        'sglang:num_requests_total 40\nsglang:num_aborted_requests_total 11\n',
      ),
    ).toEqual([40, 10])
    expect(
      seen(
        'tgi_request_count 10\n',
        'tgi_request_count 40\ntgi_request_failure{err="overloaded"} 5\ntgi_request_failure{err="validation"} 7\ntgi_request_failure{err="generation"} 2\n',
      ),
    ).toEqual([30, 7])
    expect(
      seen(
        'dynamo_frontend_requests_total{status="success",error_type=""} 1\n',
        'dynamo_frontend_requests_total{status="success",error_type=""} 11\ndynamo_frontend_requests_total{status="error",error_type="overload"} 3\ndynamo_frontend_requests_total{status="error",error_type="internal"} 2\ndynamo_frontend_requests_total{status="error",error_type="cancelled"} 9\n',
      ),
    ).toEqual([24, 5])
    expect(
      seen(
        'trtllm_request_success_total{finished_reason="stop"} 1\n',
        'trtllm_request_success_total{finished_reason="stop"} 5\ntrtllm_request_error_total 1\n',
      ),
    ).toEqual([5, 1])
    expect(seen('llamacpp:requests_processing 1\n', 'llamacpp:requests_processing 2\n')).toEqual([])
  })
  const share = (low: number, high: number): ShareBetween => ({
    low: rational(low, 1000),
    high: rational(high, 1000),
    n: 10,
  })
  const ends = (found: ShareBetween | null): readonly number[] | null =>
    found === null ? null : [toNumber(found.low), toNumber(found.high)]
  it('widen the bounds of all limits together', () => {
    expect(ends(jointWithAnswers([share(950, 950)], share(900, 900)))).toEqual([0.85, 0.9])
    expect(ends(jointWithAnswers([share(950, 950)], null))).toEqual([0.95, 0.95])
  })
  it('where nobody got an answer there is no latency: the failures alone tell', () => {
    expect(ends(jointWithAnswers([null], share(0, 0)))).toEqual([0, 0])
    expect(ends(jointWithAnswers([share(999, 999), null], share(900, 950)))).toEqual([0, 0.95])
    expect(jointWithAnswers([null], share(1000, 1000))).toBeNull()
  })
  it('shares of attempts', () => {
    expect(ends(answeredShare({ total: 200, failed: 10, failedAtMost: 30 }))).toEqual([0.85, 0.95])
    expect(answeredShare({ total: 0, failed: 0, failedAtMost: 0 })).toBeNull()
    expect(answeredShare(null)).toBeNull()
    expect(addAttempts([])).toBeNull()
    expect(
      addAttempts([
        { total: 1, failed: 1, failedAtMost: 1 },
        { total: 3, failed: 0, failedAtMost: 2 },
      ]),
    ).toEqual({
      total: 4,
      failed: 1,
      failedAtMost: 3,
    })
  })
})

describe('a replica over time', () => {
  const seen = (): ReplicaHistory => {
    const history = new ReplicaHistory('a', 10_000)
    history.observe(0, page([100, 100, 100], { tokens: 1000 }))
    history.observe(5000, page([100, 150, 160], { tokens: 1600 }))
    return history
  }
  it('the first look counts nothing: what was before it is not of the window', () => {
    const history = seen()
    const window = history.window(5000)!
    expect(window.watchedMs).toBe(5000)
    const ttft = history.firstOf('ttft', window.from, window.to)!
    expect([ttft.per, ttft.value.count, ttft.value.buckets.map(({ count }) => count)]).toEqual([
      'request',
      60,
      [0, 50, 60],
    ])
    expect(history.generated(window.from, window.to)).toBe(600)
    expect(new ReplicaHistory('b', 1).window(1000)).toBeNull()
  })
  it('a restart in the window loses only what the dead process did not tell', () => {
    const history = seen()
    history.observe(6000, page([10, 20, 20], { tokens: 50 }))
    history.observe(7000, page([10, 30, 40], { tokens: 90 }))
    const { from, to } = history.window(10_000)!
    expect(history.firstOf('ttft', from, to)?.value.count).toBe(60 + 20 + 20)
    expect(history.generated(from, to)).toBe(600 + 50 + 40)
    expect(to.resets).toBeGreaterThan(0)
  })
  it('a page that is not there is unknown, and the next one goes on from the last', () => {
    const history = seen()
    expect(history.observe(6000, null)).toMatchObject({ up: false, running: null, kv_usage: null })
    expect([history.up, history.lastReadMs]).toEqual([false, 5000])
    expect(history.observe(7000, page([100, 150, 170]))).toMatchObject({ up: true, requests: 10, running: 1 })
  })
  it('a page of something else is no engine', () => {
    const history = new ReplicaHistory('a', 1000)
    expect(history.observe(0, parsePrometheusText('up 1\n')).up).toBe(false)
  })
  it('keeps what the longest window needs, and no more', () => {
    const history = new ReplicaHistory('a', 3000)
    for (let second = 0; second <= 20; second++)
      history.observe(second * 1000, page([second, second, second]))
    const window = history.window(3000)!
    expect(history.firstOf('ttft', window.from, window.to)?.value.count).toBe(3)
    expect(history.window(60_000)!.watchedMs).toBe(3000)
  })
})

describe('pages', () => {
  it('of a Prometheus server, one for each replica, without its labels', () => {
    const scrape = parsePrometheusText(
      'vllm:x{instance="a",job="j",model_name="m"} 1\nvllm:x{instance="b",job="j",model_name="m"} 2\nvllm:x{pod="c",instance="d"} 3\nother 4\n',
    )
    const split = splitByInstance(scrape)
    expect([...split.keys()]).toEqual(['a', 'b', 'c'])
    expect(split.get('b')?.families[0]?.samples[0]).toMatchObject({ value: 2, labels: { model_name: 'm' } })
    expect(Object.keys(split.get('b')?.families[0]?.samples[0]?.labels ?? {})).toEqual(['model_name'])
  })
  it('of a federation: exporters are no replicas, and tell of the engine on their host', () => {
    const pages = replicaPages(
      splitByInstance(
        parsePrometheusText(
          'vllm:num_requests_running{instance="a:8000"} 1\nDCGM_FI_DEV_GPU_UTIL{instance="a:9400"} 50\nnode_cpu_seconds_total{instance="z:9100",cpu="0",mode="idle"} 1\nhttp_requests_total{instance="web:80",handler="/v1/chat/completions"} 9\n',
        ),
      ),
    )
    expect([...pages.keys()]).toEqual(['a:8000'])
    expect(readMachineSample(pages.get('a:8000')!)).toMatchObject({ gpuBusy: 0.5, cpuSeconds: null })
  })
  it('of the exporters beside it', () => {
    const machine = (idle: number, busy: number): Scrape =>
      parsePrometheusText(
        `node_cpu_seconds_total{cpu="0",mode="idle"} ${idle}\nnode_cpu_seconds_total{cpu="0",mode="user"} ${busy}\nDCGM_FI_DEV_FB_USED 90\nDCGM_FI_DEV_FB_FREE 10\nDCGM_FI_DEV_GPU_UTIL 50\n`,
      )
    expect(readMachineSample(machine(90, 10))).toMatchObject({
      gpuMemory: 0.9,
      gpuBusy: 0.5,
      cpuSeconds: 100,
    })
    expect(cpuBusy(readMachineSample(machine(90, 10)), readMachineSample(machine(183, 17)))).toBeCloseTo(
      0.07,
      12,
    )
    expect(cpuBusy(readMachineSample(machine(90, 10)), readMachineSample(machine(1, 1)))).toBeNull()
    expect(readMachineSample(parsePrometheusText('up 1\n'))).toEqual({
      cpuSeconds: null,
      cpuIdleSeconds: null,
      gpuMemory: null,
      gpuBusy: null,
    })
    expect(joinPages(null, [machine(1, 1)])).toBeNull()
    expect(joinPages(page([0, 0, 0]), [machine(1, 1), null])?.families.length).toBeGreaterThan(6)
  })
  it('every engine has its names', () => {
    expect(latencyNames('vllm')).toContain('vllm:time_to_first_token_seconds')
    expect(latencyNames('llamacpp')).toEqual([])
  })
})
