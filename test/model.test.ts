import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as v from 'valibot'
import {
  measurementSchema,
  modelSchema,
  predictionSchema,
  scoreSchema,
} from '../src/flows/simulate-schema.ts'
import { modelFlow } from '../src/flows/model.ts'
import type { ModelMeasureConfig } from '../src/flows/model-measure.ts'
import type { FlowDeps } from '../src/flows/flow-deps.ts'
import type { PredictionDocument, ScoreDocument } from '../src/report/model-document.ts'
import { renderMeasurement } from '../src/report/measurement-text.ts'
import { renderModel, renderPrediction, renderScore } from '../src/report/model-text.ts'
import { cliRun } from './fixtures/cli.ts'
import { smallModel, threePoints } from './fixtures/simulation.ts'

const goldens = fileURLToPath(new URL('./goldens/model/', import.meta.url))
const plain = { color: false }

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

const deps = {
  files: {
    readText: (path: string) => Promise.resolve(path === 'm.json' ? JSON.stringify(smallModel) : '{}'),
  },
  signal: new AbortController().signal,
  version: '0.1.0',
} as unknown as FlowDeps

const asked = {
  kind: 'predict',
  path: 'm.json',
  prompt: '1024',
  output: '128',
  tpotLimitMs: 20,
  requests: 200,
} as const

const score: ScoreDocument = {
  schema: 'plimsoll.score/1',
  plimsoll: '0.1.0',
  model: 'm.json',
  points: [
    {
      run: 'runs/later',
      n: 200,
      prompt_tokens: 1024,
      ttft_ms: { value: 31, low: 30, high: 33, measured: 32, error: -0.031, inside: true },
      tpot_ms: { value: 8.1, low: 8, high: 8.2, measured: 8.6, error: -0.058, inside: false },
    },
  ],
  mean_error: { ttft: -0.031, tpot: -0.058 },
  mape: { ttft: 0.031, tpot: 0.058 },
  closed_loops: [
    {
      run: 'runs/full',
      users: 64,
      requests_per_s: { value: 30.1, low: 29, high: 31.2, measured: 29.4, error: 0.0238, inside: true },
    },
  ],
  coverage: { inside: 2, of: 3, claimed: 0.9 },
  wide: 0,
}

describe('what plimsoll model prints', () => {
  test('a fit', () => {
    const text = renderModel(smallModel, { ...plain, typed: [] }, 'model.json')
    expect(text).toBe(golden('fit.txt', text))
    const typed = ['fit', 'runs/a', 'runs/b', '--gpu', 'H100 SXM']
    expect(renderModel(smallModel, { ...plain, typed }, null)).toMatch(
      /\nplimsoll model fit runs\/a runs\/b --gpu 'H100 SXM' --out model\.json\n$/,
    )
  })

  test('a prediction with room, and one at the wall', async () => {
    const calm = renderPrediction(
      (await modelFlow({ ...asked, ratePerSecond: 8 }, deps)) as PredictionDocument,
      plain,
    )
    expect(calm).toBe(golden('predict.txt', calm))
    const wall = renderPrediction(
      (await modelFlow({ ...asked, ratePerSecond: 40 }, deps)) as PredictionDocument,
      plain,
    )
    expect(wall).toBe(golden('predict-wall.txt', wall))
    expect(wall).toContain('too near the wall for a latency')
  })

  test('a measurement that knows enough, and one that ran out of time', () => {
    const enough = renderMeasurement(threePoints, plain, 'model.json')
    expect(enough).toBe(golden('measure.txt', enough))
    const short = renderMeasurement(
      { ...threePoints, points: threePoints.points.slice(0, 2), half_width: 0.21, ended: 'time' },
      plain,
      null,
    )
    expect(short).toBe(golden('measure-short.txt', short))
  })

  test('a fit that describes nothing says so before anything else', () => {
    const text = renderModel({ ...smallModel, rms_error: 0.69 }, { ...plain, typed: [] }, 'm9.json')
    expect(text).toMatch(/^DOES NOT FIT: off by 69 % in the runs that it was made of/)
  })

  test('intervals so wide that they say nothing are counted', () =>
    expect(renderScore({ ...score, wide: 2 }, plain)).toContain(
      '2 of these intervals are wider than the figure that was foretold: to be inside says nothing there',
    ))

  test('a score', () => {
    const text = renderScore(score, plain)
    expect(text).toBe(golden('score.txt', text))
  })
})

describe('modelFlow', () => {
  test('says what of the question was never measured', async () => {
    const far = (await modelFlow({ ...asked, ratePerSecond: 1, prompt: '20000' }, deps)) as PredictionDocument
    expect(far.outside).toEqual(['prompts of 20000 tokens; the fit has seen 32 to 4000'])
  })

  test.each([
    ['a model', modelSchema, smallModel],
    ['a score', scoreSchema, score],
    ['a measurement', measurementSchema, threePoints],
  ])('%s is as its schema says', (_, schema, document) => {
    const printed: unknown = JSON.parse(JSON.stringify(document))
    expect(v.safeParse(schema as v.GenericSchema, printed).issues).toBeUndefined()
  })

  test.each([8, 40])('a prediction at %d a second is as its schema says', async (ratePerSecond) => {
    const document = JSON.stringify(await modelFlow({ ...asked, ratePerSecond }, deps))
    expect(v.safeParse(predictionSchema, JSON.parse(document)).issues).toBeUndefined()
  })

  test('says of a model that describes nothing that it foretells nothing', async () => {
    const notices: string[] = []
    const unfit = JSON.stringify({ ...smallModel, rms_error: 0.69 })
    await modelFlow({ ...asked, ratePerSecond: 8 }, {
      ...deps,
      files: { readText: () => Promise.resolve(unfit) },
      onNotice: (text: string) => void notices.push(text),
    } as unknown as FlowDeps)
    expect(notices.join()).toContain('off by 69 % there, and nothing that it foretells can be used')
  })

  test('refuses a file that is no model', async () => {
    await expect(modelFlow({ ...asked, path: 'other.json', ratePerSecond: 1 }, deps)).rejects.toThrow(
      'this is not a fitted model',
    )
  })
})

describe('plimsoll model', () => {
  test('a fit that describes nothing is written, and ends with 5', async () => {
    const unfit = { ...smallModel, rms_error: 0.69 }
    const { stdout, exitCode, written } = await cliRun(['model', 'fit', 'runs/a', '--out', 'm9.json'], {
      flows: { modelFlow: () => Promise.resolve(unfit) },
    })
    expect([stdout, exitCode]).toEqual([renderModel(unfit, { ...plain, typed: [] }, 'm9.json'), 5])
    expect(written.has('m9.json')).toBe(true)
  })

  test('writes the model that it prints', async () => {
    const { stdout, written, exitCode } = await cliRun([
      'model',
      'fit',
      'runs/a',
      'runs/b',
      '--out',
      'model.json',
    ])
    expect([stdout, exitCode]).toEqual([renderModel(smallModel, { ...plain, typed: [] }, 'model.json'), 0])
    expect(JSON.parse(written.get('model.json') ?? '')).toEqual(smallModel)
  })

  test('measure writes the model and prints what it measured', async () => {
    const text = await cliRun(['model', 'measure', 'http://localhost:8000', '--out', 'm.json'])
    expect([text.stdout, text.exitCode]).toEqual([renderMeasurement(threePoints, plain, 'm.json'), 0])
    expect(JSON.parse(text.written.get('m.json') ?? '')).toEqual(smallModel)
    const json = await cliRun(['model', 'measure', '--json'])
    expect(JSON.parse(json.stdout)).toEqual(threePoints)
  })

  test('measure asks about the address, the wall and the load that were named', async () => {
    let seen: ModelMeasureConfig | null = null
    const measureModel = (config: ModelMeasureConfig) => {
      seen = config
      return Promise.resolve({ document: threePoints, model: smallModel })
    }
    const argv = [
      'http://localhost:9000',
      '--wall',
      'slo',
      '--tpot',
      '20ms',
      '--prompt',
      '500',
      '--within',
      '3%',
    ]
    await cliRun(['model', 'measure', ...argv, '--points', '9'], { flows: { measureModel } })
    expect(seen).toMatchObject({
      wall: 'slo',
      tpotLimitMs: 20,
      prompt: '500',
      target: 0.03,
      points: 9,
      run: { target: { kind: 'server', url: 'http://localhost:9000' } },
    })
  })

  test.each([
    ['a wall that there is not', ['model', 'measure', '--wall', 'memroy'], 'did you mean memory?'],
    ['a kind that there is not', ['model', 'ftt', 'x'], 'did you mean fit?'],
    ['a prediction without a load', ['model', 'predict', 'm.json'], '--rate 8/s'],
    ['a fit of nothing', ['model', 'fit'], 'a run folder is missing'],
    ['a score of nothing', ['model', 'score', 'm.json'], 'the file of a model or the run folder is missing'],
  ])('%s ends with 2 and a word', async (_, argv, word) => {
    const { stderr, exitCode } = await cliRun(argv)
    expect([exitCode, stderr.includes(word)]).toEqual([2, true])
  })
})
