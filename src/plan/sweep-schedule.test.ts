import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextLoad, type SweepPlan, type TestedPoint } from './sweep-schedule.ts'

const auto: SweepPlan = { kind: 'auto', load: 'concurrency', first: 1, most: 256, refinements: 2 }
const point = (value: number, throughput: number | null, passes: boolean | null): TestedPoint => ({
  load: { kind: 'concurrency', value },
  throughput,
  passes,
})

/** Runs a whole automatic sweep against a server given as functions of the load. */
function sweepOf(
  plan: SweepPlan,
  throughput: (n: number) => number,
  wall: number,
  memory: number | null,
): number[] {
  const tested: TestedPoint[] = []
  for (;;) {
    const load = nextLoad(plan, tested, memory)
    if (load === null) return tested.map((tested) => tested.load.value)
    tested.push(point(load.value, throughput(load.value), load.value <= wall))
    if (tested.length > 40) throw new Error('the sweep does not end')
  }
}

describe('nextLoad', () => {
  it('takes given loads in their order and ends with them', () => {
    const plan: SweepPlan = {
      kind: 'given',
      loads: [
        { kind: 'concurrency', value: 5 },
        { kind: 'concurrency', value: 2 },
      ],
    }
    expect(nextLoad(plan, [], null)).toEqual({ kind: 'concurrency', value: 5 })
    expect(nextLoad(plan, [point(5, 1, true)], null)).toEqual({ kind: 'concurrency', value: 2 })
    expect(nextLoad(plan, [point(5, 1, true), point(2, 1, true)], null)).toBeNull()
  })

  it('leaves out no given load where a sweep goes on with others than it began with', () => {
    const loads = [4, 8, 16].map((value) => ({ kind: 'concurrency', value }) as const)
    const begun = [point(1, 1, true), point(8, 1, true)]
    expect(nextLoad({ kind: 'given', loads }, begun, null)).toEqual(loads[0])
    expect(nextLoad({ kind: 'given', loads }, [...begun, point(4, 1, true)], null)).toEqual(loads[2])
  })

  it('doubles until every wall is inside, then bisects around the SLO wall', () => {
    expect(sweepOf(auto, (n) => Math.min(n, 40) * 100, 20, 28)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 23, 19])
  })

  it('goes on past saturation until the memory wall is inside', () => {
    expect(sweepOf(auto, (n) => Math.min(n, 4) * 100, 2, 30)).toEqual([1, 2, 4, 8, 16, 32, 3])
  })

  it('stops at the largest allowed load when nothing gives', () => {
    expect(sweepOf({ ...auto, most: 20 }, (n) => n, 1000, null)).toEqual([1, 2, 4, 8, 16, 20])
  })

  it('stops where nothing came back', () => {
    expect(nextLoad(auto, [point(1, 10, true), point(2, null, false)], null)).toBeNull()
  })

  it('ends, whatever the server does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.boolean()), {
          minLength: 40,
          maxLength: 40,
        }),
        (answers) => {
          const tested: TestedPoint[] = []
          for (const [throughput, passes] of answers) {
            const load = nextLoad(auto, tested, null)
            if (load === null) return
            expect(tested.map((each) => each.load.value)).not.toContain(load.value)
            tested.push(point(load.value, throughput, passes))
          }
          throw new Error('the sweep does not end')
        },
      ),
    )
  })
})
