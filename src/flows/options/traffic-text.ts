import { PlimsollError } from '../../base/errors.ts'
import { parseNumber } from '../../base/units.ts'
import { parseTokenNumber, parseTokens, parseWaitMs } from './load-limits.ts'
import type { WeightedModel } from '../../measure/workload/model-choice.ts'
import { normalLength, uniformLength } from './length-text.ts'
import type { LengthConfig } from './run-config.ts'
import type { ClassOptions } from './run-options.ts'

/** Prompt and answer lengths that are said in one word. */
export interface ScenarioLengths {
  readonly prompt: LengthConfig
  readonly output: LengthConfig
}

const scenarioForms = 'D(900,200) fixed, N(900,100)/(200,20) mean and sd, U(100,900)/(50,200) least and most'

/** genai-bench's traffic scenarios: `D(in,out)`, `N(mean,sd)/(mean,sd)`, `U(least,most)/(least,most)`, prompt first. */
export function parseScenario(text: string, what = '--scenario'): ScenarioLengths {
  const words = text.replaceAll(/\s+/g, '')
  const fixed = /^D\(([^,()]+),([^,()]+)\)$/i.exec(words)
  if (fixed !== null) {
    const [prompt, output] = [fixed[1]!, fixed[2]!].map((one) => parseTokens(one, what))
    return { prompt: { kind: 'fixed', tokens: prompt! }, output: { kind: 'fixed', tokens: output! } }
  }
  const pair = /^([NU])\(([^,()]+),([^,()]+)\)\/\(([^,()]+),([^,()]+)\)$/i.exec(words)
  if (pair === null) {
    throw new PlimsollError('PLIM_USAGE', `${what} is not a scenario`, {
      expected: scenarioForms,
      received: `"${text}"`,
    })
  }
  const read = pair[1]!.toUpperCase() === 'N' ? normalPart : uniformPart
  return { prompt: read(pair[2]!, pair[3]!, what), output: read(pair[4]!, pair[5]!, what) }
}

function normalPart(mean: string, sd: string, what: string): LengthConfig {
  return normalLength(parseTokenNumber(mean, what), parseTokenNumber(sd, what), what)
}

function uniformPart(low: string, high: string, what: string): LengthConfig {
  return uniformLength(parseTokens(low, what), parseTokens(high, what), what)
}

/** `2x`, `2` or `0.5x`: how many times as fast as it was recorded. */
export function parseSpeed(text: string, what = '--trace-speed'): number {
  const speed = parseNumber(text.trim().replace(/\s*[x×]$/i, ''), what)
  if (speed > 0) return speed
  throw new PlimsollError('PLIM_USAGE', `${what} would never end`, {
    expected: 'a factor above 0: 2x',
    received: `"${text}"`,
  })
}

/**
 * `a:3,b:1`: names with weights (1 where none is said). A name without a comma is one model, whatever colons it has; null then.
 */
export function parseModels(text: string, what = '--model'): readonly WeightedModel[] | null {
  if (!text.includes(',')) return null
  const models = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const match = /^(.+):(\d+(?:\.\d+)?)$/.exec(part)
      return match === null ? { name: part, weight: 1 } : { name: match[1]!, weight: Number(match[2]) }
    })
  if (models.some(({ weight }) => weight > 0)) return models
  throw new PlimsollError('PLIM_USAGE', `${what} names no model to ask`, {
    expected: `${what} base:3,adapter:1`,
    received: `"${text}"`,
  })
}

/** `chat=3:D(900,200)` or `code=1:jsonl:code.jsonl`: a class of a mix, its weight and what it asks. */
export function parseClass(text: string, what = '--class'): ClassOptions {
  const match = /^([^=:]+)=([\d.]+):(.+)$/.exec(text.trim())
  if (match === null) {
    throw new PlimsollError('PLIM_USAGE', `${what} is not a class of a mix`, {
      expected: `${what} 'chat=3:D(900,200)', or ${what} code=1:jsonl:code.jsonl`,
      received: `"${text}"`,
    })
  }
  const [, name = '', weight = '', asked = ''] = match
  const file = /^(jsonl|sharegpt|batch):(.+)$/.exec(asked)
  return {
    name: name.trim(),
    weight: parseNumber(weight, what),
    ...(file === null
      ? { scenario: parseScenario(asked, what) }
      : { workload: file[1] as 'jsonl' | 'sharegpt' | 'batch', workloadPath: file[2]! }),
  }
}

export interface ThinkTime {
  readonly ms: number
  readonly kind: 'fixed' | 'exponential'
}

/** `2s`, or `exponential 2s` for pauses drawn with that mean. */
export function parseThinkTime(text: string, what = '--turn-think'): ThinkTime {
  const match = /^(exponential\s+)?(.+)$/i.exec(text.trim())
  return {
    ms: parseWaitMs(match?.[2] ?? text, what),
    kind: match?.[1] === undefined ? 'fixed' : 'exponential',
  }
}
