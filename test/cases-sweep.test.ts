import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { memoryWall } from '../src/plan/kv-pool.ts'
import { capacity, saturationWall, sloWall, type WallPoint } from '../src/plan/walls.ts'

const read = (name: string): never =>
  JSON.parse(readFileSync(new URL(`cases/${name}.json`, import.meta.url), 'utf8')) as never

interface SweepCase {
  readonly slo: { readonly tpot_p99_ms: number }
  readonly kv_tokens: number
  readonly tokens_per_request: number
  readonly points: readonly { readonly c: number; readonly tps: number; readonly tpot_p99_ms: number }[]
  readonly client_cpu_at: Readonly<Record<string, number>>
}

it('sweep-01: the walls of a sweep whose last point was set by its client', () => {
  const input: SweepCase = read('sweep-01-walls.in')
  const { expect: expected }: { expect: Record<string, unknown> } = read('sweep-01-walls.expect')
  const suspect = input.points.filter(({ c }) => (input.client_cpu_at[c] ?? 0) > 0.8).map(({ c }) => c)
  const points: WallPoint[] = input.points
    .filter(({ c }) => !suspect.includes(c))
    .map(({ c, tps, tpot_p99_ms }) => ({
      load: c,
      throughput: tps,
      passes: tpot_p99_ms <= input.slo.tpot_p99_ms,
    }))
  const saturation = saturationWall(points)
  const slo = sloWall(points)
  const memory = memoryWall(input.kv_tokens, input.tokens_per_request)
  const found = capacity(points, saturation, slo, memory)
  expect({
    slo_wall: slo?.load,
    slo_wall_tps: slo?.throughput,
    saturation_wall: saturation.load,
    memory_wall: memory,
    capacity: found.load,
    binding: found.binding,
    suspect_points: suspect,
  }).toEqual(expected)
})
