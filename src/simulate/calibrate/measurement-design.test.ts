import { describe, expect, test } from 'vitest'
import { randomStream } from '../../base/random.ts'
import type { EngineConfig } from '../engine/engine-config.ts'
import { createEngine } from '../engine/engine.ts'
import { enginePreset } from '../engine/presets.ts'
import { runVirtual } from '../engine/run-virtual.ts'
import { fitModel, type FittedEngine } from './fit-model.ts'
import { lengthMoments } from './mean-field.ts'
import type { MeasuredRun } from './measured-run.ts'
import {
  answerMs,
  bestNext,
  candidateLoads,
  firstDesign,
  loadAsRun,
  wallOf,
  wallPerSecond,
  type ClosedLoad,
  type MeasurableRange,
  type WallQuestion,
} from './measurement-design.ts'
import { openBounds } from './step-bounds.ts'

/** The load measured on an engine in virtual time. */
function measured(load: ClosedLoad, engine: EngineConfig, name: string): MeasuredRun {
  const run = loadAsRun(load, answerMs(load, engine))
  const first = load.users
  let next = Math.min(first, load.requests)
  const request = (id: number, arrivalMs: number) => ({
    id,
    arrivalMs,
    promptTokenIds: { length: load.promptTokens, seed: null },
    outputTokens: load.outputTokens,
  })
  const results = runVirtual(createEngine(engine, randomStream(name, 'engine'), { events: 'requests' }), {
    arrivals: run.requests.slice(0, next).map(({ atMs }, id) => request(id, atMs)),
    onResult: ({ endMs }) => (next >= load.requests ? null : request(next++, endMs)),
  })
  const requests = results
    .toSorted((a, b) => (a.id as number) - (b.id as number))
    .map(({ facts }) => ({
      atMs: facts?.arrivalMs ?? 0,
      promptTokens: load.promptTokens,
      outputTokens: load.outputTokens,
      ttftMs: (facts?.firstTokenMs ?? 0) - (facts?.arrivalMs ?? 0),
      tpotMs: ((facts?.lastTokenMs ?? 0) - (facts?.firstTokenMs ?? 0)) / (load.outputTokens - 1),
      lagMs: 0,
      counts: true,
    }))
  return { ...run, name, requests }
}

const range = (engine: EngineConfig): MeasurableRange => ({
  longestPrompt: Math.min(8000, engine.maxModelLen - 256),
  mostUsers: Math.min(engine.maxNumSeqs, 128),
  poolTokens: (engine.numGpuBlocks - 1) * engine.blockSize,
})

function calibrated(engine: EngineConfig, question: WallQuestion, points: number): FittedEngine {
  const { stepTime: _, frontEndMs: __, ...own } = engine
  const settings = { ...own, enablePrefixCaching: false, jitterSigma: 0 }
  const runs = firstDesign(range(engine)).map((load, i) => measured(load, engine, `first ${i}`))
  let model = fitModel(runs, settings, openBounds)
  const loads = candidateLoads(range(engine)).filter(({ requests }) => requests < 300)
  for (let i = 0; i < points; i++) {
    const next = bestNext(model, question, loads)
    if (next === null) break
    runs.push(measured(next.load, engine, `next ${i}`))
    model = fitModel(runs, settings, openBounds, { evaluations: 100, from: model.coefficients })
  }
  return model
}

const question = (prompt: number, output: number, tpotLimitMs: number): WallQuestion => ({
  wall: 'slo',
  lengths: lengthMoments([[prompt, output]]),
  tpotLimitMs,
})

describe('an engine that is measured by the design', () => {
  test.each([
    ['h100-8b', 1024, 128, 20],
    ['demo', 200, 30, 10],
  ])(
    '%s: the wall is known within a twentieth, and inside its interval',
    (preset, prompt, output, limit) => {
      const engine = { ...enginePreset(preset).config, enablePrefixCaching: false, jitterSigma: 0.02 }
      const asked = question(prompt, output, limit)
      const before = wallOf(calibrated(engine, asked, 0), asked)
      const after = wallOf(calibrated(engine, asked, 4), asked)
      const truth = wallPerSecond(engine, asked)
      expect(Math.abs(after.value / truth - 1)).toBeLessThan(0.05)
      expect([after.low <= truth * 1.02, after.high >= truth * 0.98]).toEqual([true, true])
      expect((after.high - after.low) / after.value).toBeLessThan((before.high - before.low) / before.value)
    },
    120_000,
  )
})

describe('loads to be measured', () => {
  const tight: MeasurableRange = { longestPrompt: 4000, mostUsers: 16, poolTokens: 10_000 }

  test('fill the pool to four fifths at most, and no more seats than there are', () => {
    for (const { promptTokens, outputTokens, users, requests } of [
      ...firstDesign(tight),
      ...candidateLoads(tight),
    ]) {
      expect(users).toBeLessThanOrEqual(16)
      expect(users === 1 || users * (promptTokens + outputTokens) <= 8000).toBe(true)
      expect(requests).toBeGreaterThanOrEqual(2 * users)
      expect(promptTokens).toBeLessThanOrEqual(4000)
    }
  })

  test('are of two lengths of context and several concurrencies from the beginning', () => {
    const loads = firstDesign({ longestPrompt: 8000, mostUsers: 128, poolTokens: null })
    const several = loads.filter(({ users }) => users > 1)
    const lengths = several.map(({ promptTokens }) => promptTokens)
    expect(Math.max(...lengths) / Math.min(...lengths)).toBeGreaterThan(10)
    expect(new Set(loads.map(({ users }) => users)).size).toBeGreaterThan(2)
  })
})
