import { describe, expect, test } from 'vitest'
import { sixPerSecond } from '../../test/fixtures/documents.ts'
import { type ServerSample, unknownSample } from '../measure/record/server-samples.ts'
import { runPage } from './html-run.ts'
import { latencyScatter } from './svg-latency-scatter.ts'
import { serverUseFigure } from './svg-server-use.ts'

const { window } = sixPerSecond

function look(second: number, over: Partial<ServerSample> = {}): ServerSample {
  const at_ms = window.start_ms + second * 1000
  const told = { replica: 'a', up: true, scrape_ms: 4, running: second, waiting: 0, kv_usage: 0.4 }
  return { ...unknownSample, ...told, at_ms, ...over }
}

const looks = Array.from({ length: 30 }, (_, second) => look(second))

describe('the server over the run', () => {
  test.each<[string, readonly ServerSample[], (body: string) => void]>([
    [
      'requests above, the pool below',
      looks,
      (body) => {
        expect(body).toContain('running 7 at')
        expect(body).toContain('KV pool 40 % at')
        expect(body).toContain('a look of 4.00 ms')
      },
    ],
    [
      'an engine without a pool has no panel of it',
      looks.map((one) => ({ ...one, kv_usage: null })),
      (body) => expect(body).not.toContain('KV pool'),
    ],
    [
      'one that tells the pool alone',
      looks.map((one) => ({ ...one, running: null, waiting: null })),
      (body) => expect(body).not.toContain('running'),
    ],
    [
      'replicas are added up, and of their pools the fullest counts',
      looks.flatMap((one) => [one, { ...one, replica: 'b', kv_usage: 0.9 }]),
      (body) => {
        expect(body).toContain('running 14 at')
        expect(body).toContain('KV pool 90 % at')
      },
    ],
    [
      'a look that failed is said, and the line has a gap',
      looks.map((one, at) => (at === 9 ? { ...unknownSample, at_ms: one.at_ms, replica: 'a' } : one)),
      (body) => {
        expect(body).toContain('a could not be read at')
        expect(body.match(/class="curve thin" d="[^"]*"/g)?.[0]?.match(/M/g)).toHaveLength(2)
      },
    ],
    [
      'a long look is a band',
      looks.map((one, at) => (at === 9 ? { ...one, scrape_ms: 3000 } : one)),
      (body) => expect(body).toMatch(/class="outside" d="M/),
    ],
  ])('%s', (_, samples, check) => {
    const figure = serverUseFigure(samples, [], window)
    if (figure === null) throw new Error('nothing was drawn')
    expect(figure.body).not.toMatch(/NaN|Infinity|undefined/)
    check(figure.body)
  })

  test.each<[string, readonly ServerSample[]]>([
    ['nobody looked', []],
    ['no look told anything', [{ ...unknownSample, at_ms: window.start_ms }]],
    ['all looks are of another time', looks.map((one) => ({ ...one, at_ms: one.at_ms + 1e9 }))],
  ])('nothing is drawn where %s', (_, samples) => {
    expect(serverUseFigure(samples, [], window)).toBeNull()
  })

  test('it stands under the latencies, on the same seconds', () => {
    const rows = looks.map(({ at_ms }, at) => ({
      id: `r-${at}`,
      planned_ms: at_ms,
      ttft_ms: 100,
      e2e_ms: 300,
      tpot_ms: 20,
      completion_tokens: 11,
      outcome: 'ok',
    })) as unknown as Parameters<typeof latencyScatter>[0]
    const centres = (body: string): Set<string> =>
      new Set([...body.matchAll(/cx="([\d.]+)"[^>]*r="2/g)].map(([, x = '']) => x))
    const above = centres(latencyScatter(rows, window)!.body)
    expect([...centres(serverUseFigure(looks, rows, window)!.body)].every((x) => above.has(x))).toBe(true)
    const page = runPage(sixPerSecond, rows, looks)
    expect(page.indexOf('The server over the run')).toBeGreaterThan(page.indexOf('Latency over the run'))
  })
})
