import { expect, it } from 'vitest'
import { monotonicClock } from '../../base/clock.ts'
import { calibrationOf } from './calibration.ts'
import { openInstrument } from './instrument.ts'
import { stampErrors } from './calibration-reader.ts'

it('errors are stamp − write, event by event, and cost is CPU ÷ events', () => {
  const reading = { errorsMs: new Float64Array(), events: 0, cpuMs: 0, failed: 0 }
  const errorsMs = Float64Array.from({ length: 100 }, (_, i) => (100 - i) / 100)
  const result = calibrationOf(
    [
      { ...reading, name: 'error', errorsMs },
      { ...reading, name: 'capacity', events: 10_000, cpuMs: 80 },
    ],
    2,
  )
  expect(result.ownErrorMs).toEqual({ p50: 0.5, p99: 0.99 })
  expect(result.cpuPerEventUs).toBeCloseTo(8, 9)
  expect(result.capacityEventsPerSecond).toBeCloseTo(250_000, 6)
})

it('nothing read, nothing known: null, not 0', () => {
  expect(calibrationOf([], 1)).toMatchObject({
    ownErrorMs: { p50: null, p99: null },
    cpuPerEventUs: null,
    capacityEventsPerSecond: null,
  })
})

it('a cost whose CPU time cannot be read is unknown, and so is the capacity', () => {
  const reading = { name: 'capacity', errorsMs: new Float64Array(), events: 10_000, failed: 0 } as const
  expect(calibrationOf([{ ...reading, cpuMs: null }], 2)).toMatchObject({
    cpuPerEventUs: null,
    capacityEventsPerSecond: null,
  })
})

it.each([
  [
    'an event a write',
    { planned_ms: 10, ttft_ms: 5, gaps_ms: [10, 11], text: ' 14.5 24.000 35.75' },
    [0.5, 1, 0.25],
  ],
  ['events that came together', { planned_ms: 0, ttft_ms: 5, gaps_ms: [0, 0], text: ' 2 3 4' }, [3, 2, 1]],
  ['no answer', { planned_ms: 0, ttft_ms: null, gaps_ms: [], text: '' }, []],
])('%s', (_, fields, errors) => expect(stampErrors(fields)).toEqual(errors))

it('a real calibration finds an error that is positive and small, and a capacity, and need not be repeated', async () => {
  const clock = monotonicClock(performance, process.hrtime.bigint)
  const instrument = await openInstrument({ workers: 1 }, clock)
  const { calibration } = instrument
  const after = await instrument.measureError()
  expect(after!.p50).toBeGreaterThan(0)
  expect(after!.p99).toBeGreaterThanOrEqual(after!.p50!)
  await instrument.close()
  expect(await instrument.measureError()).toBeNull()
  expect(calibration!.events).toBe(1024)
  expect(calibration!.ownErrorMs.p50).toBeGreaterThan(0)
  expect(calibration!.ownErrorMs.p50).toBeLessThan(20)
  expect(calibration!.capacityEventsPerSecond).toBeGreaterThan(1000)
  const again = await openInstrument({ workers: 1, calibration }, clock)
  expect(again.calibration).toBe(calibration)
  await again.close()
})
