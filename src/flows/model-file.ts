import * as v from 'valibot'
import { PlimsollError } from '../base/errors.ts'
import type { ModelDocument } from '../report/model-document.ts'
import type { FittedEngine } from '../simulate/calibrate/fit-model.ts'
import {
  coefficientNames,
  type CoefficientName,
  type Coefficients,
  type EngineSettings,
} from '../simulate/calibrate/step-coefficients.ts'
import { modelSchema } from './simulate-schema.ts'

/** A coefficient with a larger factor than this (one standard deviation) is not known. */
export const unknownFactor: number = Math.exp(0.5)

const splitting: Readonly<Record<CoefficientName, string>> = {
  overheadMs:
    'short prompts at a concurrency that passes the knee: plimsoll sweep --concurrency 64,128,256 --prompt 32',
  weightsMs:
    'short prompts at a concurrency that passes the knee: plimsoll sweep --concurrency 64,128,256 --prompt 32',
  perTokenMs:
    'one user with prompts of several lengths: plimsoll run --concurrency 1 --prompt 2000 (and 500, 8000)',
  perContextTokenMs:
    'long prompts at several concurrencies: plimsoll sweep --concurrency 1,8,32 --prompt 4000',
  perPairMs: 'one user with prompts as long as they come: plimsoll run --concurrency 1 --prompt 16000',
  perSequenceMs: 'short prompts at a high concurrency: plimsoll sweep --concurrency 32,128 --prompt 32',
  frontEndMs:
    'one user with short prompts and long answers: plimsoll run --concurrency 1 --prompt 32 --output 128',
}

function factorsOf({ logCovariance }: FittedEngine): number[] {
  return coefficientNames.map((_, i) => Math.exp(Math.sqrt(Math.max(0, logCovariance[i]?.[i] ?? 0))))
}

/** The coefficients that the runs do not tell, by the names of the document. */
export function unknownCoefficients(fitted: FittedEngine): string[] {
  const factors = factorsOf(fitted)
  return coefficientNames.filter((_, i) => (factors[i] as number) > unknownFactor).map(snake)
}

export function modelDocument(fitted: FittedEngine, runs: readonly string[], version: string): ModelDocument {
  const factors = factorsOf(fitted)
  // Of what is not known, that which costs the most time in a step of the measured kind.
  const open = coefficientNames.filter((_, i) => (factors[i] as number) > unknownFactor)
  const [worst] = open.toSorted((a, b) => weight(fitted, b) - weight(fitted, a))
  return {
    schema: 'plimsoll.model/1',
    plimsoll: version,
    runs,
    settings: snakeKeys<number | boolean | null>({ ...fitted.settings }),
    coefficients: snakeKeys<number>({ ...fitted.coefficients }),
    uncertainty: Object.fromEntries(coefficientNames.map((name, i) => [snake(name), factors[i] as number])),
    log_covariance: fitted.logCovariance,
    ensemble: fitted.ensemble.map((one) => snakeKeys<number>({ ...one })),
    bounded_by: fitted.boundedBy,
    rms_error: fitted.rmsError,
    noise: fitted.noise,
    points: fitted.points.map(({ measured, fitted: other }) => ({
      run: measured.run,
      n: measured.n,
      prompt_tokens: measured.promptTokens,
      ttft_ms: { measured: measured.ttftMs, fitted: other.ttftMs },
      tpot_ms:
        measured.tpotMs === null || other.tpotMs === null
          ? null
          : { measured: measured.tpotMs, fitted: other.tpotMs },
    })),
    collinear: fitted.collinear.map(([a, b, correlation]) => ({ a: snake(a), b: snake(b), correlation })),
    next_measurement: worst === undefined ? null : splitting[worst],
    hull: { prompt_tokens: fitted.hull.promptTokens, output_tokens: fitted.hull.outputTokens },
  }
}

/** What a coefficient adds to a step of 32 rows with 2,000 tokens each and a chunk of 1,000 of another prompt, ms. */
function weight({ coefficients: of }: FittedEngine, name: CoefficientName): number {
  const times: Readonly<Record<CoefficientName, number>> = {
    overheadMs: 1,
    weightsMs: 1,
    perTokenMs: 1000,
    perContextTokenMs: 64_000,
    perPairMs: 1e6,
    perSequenceMs: 32,
    frontEndMs: 0.1,
  }
  return of[name] * times[name]
}

/** @throws PlimsollError PLIM_FILE when it is no model. */
export function readModel(text: string, file: string): ModelDocument {
  let value: unknown = null
  try {
    value = JSON.parse(text)
  } catch {
    // Said below.
  }
  const result = v.safeParse(modelSchema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  const key = issue.path?.map((item) => String(item.key)).join('.') ?? ''
  throw new PlimsollError('PLIM_FILE', 'this is not a fitted model', {
    expected: 'what plimsoll model fit RUNS… --out model.json wrote',
    received: received(text, key, issue.received),
    where: { file },
  })
}

function received(text: string, key: string, value: string): string {
  if (text.trim() === '') return 'an empty file'
  if (key === '') return text.slice(0, 60)
  return value === 'undefined' ? `an object without ${key}` : `${key}: ${value}`
}

/** Public documents are in snake case. */
function snake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function snakeKeys<T>(of: { readonly [key: string]: T }): Record<string, T> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [snake(key), value]))
}

function camelKeys<T>(of: Readonly<Record<string, T>>): Record<string, T> {
  const camel = (key: string): string =>
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [camel(key), value]))
}

/** The fit that a document holds, without its points. */
export function engineOf(model: ModelDocument): FittedEngine {
  return {
    settings: camelKeys(model.settings) as unknown as EngineSettings,
    coefficients: camelKeys(model.coefficients) as unknown as Coefficients,
    logCovariance: model.log_covariance,
    ensemble: model.ensemble.map((one) => camelKeys(one) as unknown as Coefficients),
    boundedBy: model.bounded_by,
    rmsError: model.rms_error,
    noise: model.noise,
    points: [],
    collinear: [],
    hull: { promptTokens: model.hull.prompt_tokens, outputTokens: model.hull.output_tokens },
  }
}
