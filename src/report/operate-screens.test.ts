import { describe, expect, it } from 'vitest'
import { nightWatch, seedPolicy, seedSignals } from '../../test/fixtures/scale.ts'
import { renderPolicy, renderSignals } from './scale-screen.ts'
import { renderWatch, renderWatchLine } from './watch-screen.ts'

const plain = { color: false }

describe('signals', () => {
  it('the answer, those never to use, the ranking, and what was asked', () => {
    expect(renderSignals(seedSignals, { color: false, typed: ['--slo', 'ttft < 500ms'] }))
      .toBe(`Scale on waiting: it moved 21s before ttft < 500ms was missed, 1m2s into the run
  never on cpu, gpu_memory: what does not move cannot warn

  signal        lead   correlation
  waiting        21s          0.97   0 requests → 38 requests
  kv              9s          0.71   31 % → 88 %
  preemptions    −4s          0.66   moved only when the objective was already missed
  cpu              –         −0.02   did not move: 0.07 at rest, at most 0.07 before the breach, correlation with the latency -0.02
  gpu_memory       –             –   did not move: 0.9 at rest, at most 0.9 before the breach

A policy on cpu is refused: cpu did not move: 0.07 at rest, at most 0.07 before the breach
plimsoll scale policy SWEEP --run runs/1129-1600-watch --on waiting --slo 'ttft < 500ms' --ramp RAMP --cold-start TIME
`)
  })
  it('a run without a breach, and one in which nothing moved in time', () => {
    const typed = ['--cold-start', '40s']
    const never = renderSignals({ ...seedSignals, breach_at_s: null }, { color: false, typed })
    expect(never).toContain('was never missed for good')
    expect(never).toMatch(/ --cold-start 40s --ramp RAMP\n$/)
    const late = { ...seedSignals, best: null, policy: { on: 'kv', refused: null } }
    const nothing = renderSignals(late, { color: false, typed })
    expect(nothing).toContain('nothing that was recorded moved before')
    expect(nothing).toMatch(/: plimsoll watch --url URL --record\n$/)
    expect(renderSignals({ ...late, url: 'http://a:8000' }, { color: false, typed })).toMatch(
      /: plimsoll watch --url http:\/\/a:8000 --record\n$/,
    )
  })
})

it('a policy with its working', () => {
  expect(
    renderPolicy(seedPolicy, {
      color: false,
      typed: ['policy', 'runs/1129-1501-sweep', '--ramp', '0.1/s/s'],
    }),
  )
    .toBe(`Aim at 19 requests in flight a replica (running + waiting; 6.4 req/s), 1 more kept warm (+ 19 in flight on the metric)
  between 1 and 9 replicas · scale down over 300 s, one in 60 s · up at once
  a start takes at least 8 s
  usable 8 × 0.8 = 6.4 req/s a replica
  half as much again on one replica leaves 32 waiting when the next one is there: 4 s more for each
plimsoll scale policy runs/1129-1501-sweep --ramp 0.1/s/s --format keda   (hpa, keda, keda-external, wva, json)
`)
  const unsure = renderPolicy(
    {
      ...seedPolicy,
      basis: { requests_per_s: 8, kind: 'indicative' },
      cold_start_s: null,
      backlog: null,
      warm_pool: 0,
    },
    { color: false, typed: ['policy'] },
  )
  expect(unsure).toContain('cold start unknown: --cold-start 40s')
  expect(unsure).toContain('INDICATIVE')
})

describe('watch', () => {
  it('the worst first, bounds as bounds, and what is not known said', () => {
    expect(renderWatch(nightWatch, plain))
      .toBe(`PAGE (lesson) · 30 running, 11 waiting on 1 replica · 3.1 req/s · 3,120 tok/s · watched 1h2m

  replica   running   waiting        KV
  a:8000         30        11      88 %   vllm
  b:8000    unknown   unknown   unknown   no answer

  TTFT P50 ≈ 310 ms, P99 2.50 s to 5.00 s (n 930) · TPOT P50 ≈ 18.2 ms, P99 25.0 ms to 50.0 ms (n 921) · over 5m
  CPU 7.0 %, GPU memory 90 %: neither follows the load of an inference server

  ttft < 500ms and tpot < 30ms, good 99.5 %
    5m   good between 85 % and 95.2 % (ttft < 500ms 95.2 %, tpot < 30ms 90 %–99.0 %), burn 9.6x to 29.6x (n 921)
    1h   good between 93.8 % and 96.8 % (ttft < 500ms 96.8 %, tpot < 30ms 97.0 %–99.5 %), burn 6.4x to 12.4x (n 10,800)
    page lesson: fires · sre-workbook: quiet

  p99 tpot <= 50ms, good 99.0 %
    5m   good 100 %, burn not yet known: 2m of 5m watched (n 300)
    1h   share unknown, burn not yet known: no requests, or the engine has no such histogram (n 0)
    page lesson: cannot tell yet · sre-workbook: cannot tell yet
  SLO wall at 32 in flight a replica: now 41, 128 % of it
  memory wall at 150 in flight a replica: now unknown
  KV pool 88 % full on the fullest replica
  b:8000 does not answer, last read 44s ago: unknown, not idle
`)
  })
  it('a look as a line', () => {
    expect(renderWatchLine(nightWatch)).toBe(
      '1h2m  1/2 up  running 30  waiting 11  KV 88 %  TTFT P50 310 ms  burn 9.6x–29.6x PAGE (lesson)  burn not yet known (2m of 5m watched)\n',
    )
  })
  it.each([
    [
      'the first look waits for the second',
      0,
      'vllm',
      'TTFT and TPOT come with the second look: a page counts since the engine began',
    ],
    [
      'nobody asked',
      2,
      'vllm',
      'TTFT unknown: no request was answered · TPOT unknown: no request was answered · over 2s',
    ],
    [
      'an engine that tells neither',
      2,
      'llamacpp',
      'TTFT unknown: llamacpp has no histogram of it · TPOT unknown: llamacpp has no histogram of it · over 2s',
    ],
    [
      'one that tells half',
      2,
      'tgi',
      'TTFT unknown: tgi has no histogram of it · TPOT unknown: no request was answered · over 2s',
    ],
    [
      'the first look at an engine that tells neither waits for nothing',
      0,
      'llamacpp',
      'TTFT unknown: llamacpp has no histogram of it · TPOT unknown: llamacpp has no histogram of it',
    ],
  ])('says what it waits for: %s', (_, window_s, engine, said) => {
    const { fleet, replicas } = nightWatch
    const look = {
      ...nightWatch,
      fleet: { ...fleet, window_s, ttft: null, tpot: null },
      replicas: replicas.map((replica) => ({ ...replica, engine })),
    }
    expect(renderWatch(look, { color: false })).toContain(`\n  ${said}\n`)
  })

  it.each([
    ['may come', true, 'burn not yet known', 'cannot tell yet', 'no page, but it cannot all be told yet ·'],
    ['never comes', false, 'burn unknown', 'cannot tell', 'no page, but it cannot all be told ·'],
  ])('a burn that %s is said to', (_, waits, burn, page, headline) => {
    const why = 'llamacpp has no histogram of ttft'
    const objectives = nightWatch.objectives.slice(1).map((objective) => ({
      ...objective,
      windows: objective.windows.map((window) => ({ ...window, share: null, burn: null, why, waits })),
    }))
    const look = { ...nightWatch, objectives, fleet: { ...nightWatch.fleet, up: 2 } }
    const text = renderWatch(look, plain)
    expect(text.split('\n')[0]).toContain(headline)
    expect(text).toContain(`    5m   share unknown, ${burn}: ${why} (n 300)\n`)
    expect(text).toContain(`    page lesson: ${page} · sre-workbook: ${page}\n`)
    expect(renderWatchLine(look)).toContain(`  ${burn} (${why})\n`)
  })
})
