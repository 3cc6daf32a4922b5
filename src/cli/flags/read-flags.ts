import { PlimsollError } from '../../base/errors.ts'
import { parseCount, parseNumber, parsePercent } from '../../base/units.ts'
import { jsonFault } from '../../measure/workload/json-fault.ts'
import { parseHeader } from '../../measure/workload/header-template.ts'
import { parseLength } from '../../flows/options/length-text.ts'
import { parsePrefixTokens, parseRequests, parseTurns, parseWaitMs } from '../../flows/options/load-limits.ts'
import { parsePacer, positiveDuration, positiveRate } from '../../flows/options/pacer-text.ts'
import type { ObjectiveConfig } from '../../flows/options/run-config.ts'
import { parseClass, parseScenario, parseSpeed, parseThinkTime } from '../../flows/options/traffic-text.ts'
import type { RunOptions, SweepOptions } from '../../flows/options/run-options.ts'
import { wordOr } from '../../flows/options/word-or.ts'
import type { FlagValues } from '../verb.ts'
import { isOn, list, oneOf, readPort, text } from './flag-values.ts'
import { flagsOver } from './watched-flags.ts'

type Reader = (value: string, flag: string) => unknown

const durationOrNone: Reader = (text, flag) =>
  wordOr('none', null, text, (value) => positiveDuration(value, flag))
const apiWords = {
  chat: 'chat',
  completions: 'completions',
  'openai-chat': 'chat',
  openai: 'completions',
  vllm: 'completions',
  'openai-completions': 'completions',
  responses: 'responses',
  anthropic: 'anthropic',
  messages: 'anthropic',
  tgi: 'tgi',
  llamacpp: 'llamacpp',
  'llama.cpp': 'llamacpp',
  embeddings: 'embeddings',
  'openai-embeddings': 'embeddings',
} as const
const workloadWords = {
  random: 'random',
  jsonl: 'jsonl',
  custom: 'jsonl',
  sharegpt: 'sharegpt',
  batch: 'batch',
  trace: 'trace',
  mix: 'mix',
} as const
const typeWords = { '1': '1', '6': '6', '7': '7', linear: '7', floor: 'floor', nearest: '1' } as const

// Flag, the option that it says, and how its text is read.
const readers: readonly (readonly [flag: string, option: keyof RunOptions, read: Reader])[] = [
  ['url', 'url', String],
  ['host', 'host', String],
  ['port', 'port', (value, flag) => readPort(value, flag)],
  ['api', 'api', (value, flag) => oneOf(value, flag, apiWords)],
  ['endpoint', 'endpoint', String],
  ['model', 'model', String],
  ['key-env', 'keyEnv', readVariableName],
  ['ca', 'caFile', String],
  ['aws-sigv4', 'awsSigv4', String],
  ['replica-header', 'replicaHeader', (value) => value.toLowerCase()],
  ['kv-tokens', 'kvTokens', (value, flag) => parseCount(value, flag, 1)],
  ['request-rate', 'rate', readRate],
  ['burstiness', 'burstiness', (value, flag) => parseNumber(value, flag)],
  ['concurrency', 'concurrency', readUsers],
  ['pacer', 'pacer', parsePacer],
  ['num-prompts', 'count', parseRequests],
  ['duration', 'durationMs', positiveDuration],
  ['max-duration', 'maxDurationMs', positiveDuration],
  ['warmup', 'warmupMs', (text, flag) => wordOr('auto', 'detect', text, (value) => parseWaitMs(value, flag))],
  ['drain', 'drainMs', parseWaitMs],
  ['workload', 'workload', (value, flag) => oneOf(value, flag, workloadWords)],
  ['dataset-path', 'workloadPath', String],
  ['prompt', 'prompt', parseLength],
  ['output', 'output', parseLength],
  ['random-range-ratio', 'rangeRatio', (value, flag) => parseNumber(value, flag)],
  ['turns', 'turns', parseTurns],
  ['turn-think', 'turnThink', parseThinkTime],
  ['cancel-rate', 'cancelShare', parsePercent],
  ['cancel-after', 'cancelAfterMs', parseWaitMs],
  ['trace-speed', 'traceSpeed', parseSpeed],
  ['scenario', 'scenario', parseScenario],
  ['prefix-hit-rate', 'prefixHitRate', parsePercent],
  ['shared-prefix', 'sharedPrefixTokens', parsePrefixTokens],
  ['body-template', 'bodyTemplatePath', String],
  ['tokenizer', 'tokenizerPath', String],
  ['seed', 'seed', String],
  ['salt', 'salt', String],
  ['percentiles', 'percentiles', readPercentiles],
  ['percentile-type', 'percentileType', (value, flag) => oneOf(value, flag, typeWords)],
  ['workers', 'workers', (value, flag) => parseCount(value, flag, 1)],
  ['timeout-connect', 'connectTimeoutMs', positiveDuration],
  ['timeout-first-token', 'firstTokenTimeoutMs', durationOrNone],
  ['timeout-idle', 'idleTimeoutMs', durationOrNone],
  ['timeout-total', 'totalTimeoutMs', durationOrNone],
  ['name', 'name', String],
  ['out', 'out', String],
  ['runs-dir', 'runsDir', String],
]

const switches = [
  ['insecure', 'insecure'],
  ['http2', 'http2'],
  ['ignore-eos', 'ignoreEos'],
  ['warm-prefix', 'warmPrefix'],
  ['keep-text', 'keepText'],
] as const satisfies readonly (readonly [string, keyof RunOptions])[]

/** What the flags of `run` say. Every error names its flag. */
export function readRunFlags(flags: FlagValues): RunOptions {
  const options: Record<string, unknown> = {}
  for (const [flag, option, read] of readers) {
    const value = text(flags, flag)
    if (value !== undefined) options[option] = read(value, `--${flag}`)
  }
  for (const [flag, option] of switches) {
    const value = isOn(flags, flag)
    if (value !== undefined) options[option] = value
  }
  if (list(flags, 'class').length > 0) options['classes'] = list(flags, 'class').map((one) => parseClass(one))
  if (isOn(flags, 'no-stream') === true) options['stream'] = false
  if (list(flags, 'metrics-url').length > 0) options['metricsUrls'] = list(flags, 'metrics-url')
  if (list(flags, 'header').length > 0) options['headers'] = readHeaders(list(flags, 'header'))
  if (list(flags, 'tag').length > 0) options['metadata'] = readPairs(list(flags, 'tag'), '--tag', /=/)
  if (list(flags, 'fault').length > 0) options['faults'] = list(flags, 'fault')
  if (list(flags, 'engine').length > 0) options['engineSettings'] = readSettings(list(flags, 'engine'))
  if (text(flags, 'out') !== undefined && text(flags, 'runs-dir') !== undefined) {
    throw new PlimsollError('PLIM_USAGE', '--out is exactly the folder, and --runs-dir where one is made', {
      expected: 'one of them',
    })
  }
  const objectives = readObjectives(flags)
  if (objectives.length > 0) options['objectives'] = objectives
  const body = readBody(flags)
  if (Object.keys(body).length > 0) options['extraBody'] = body
  return options as RunOptions
}

/** What the flags of `sweep` say: `--concurrency` and `--rates` are its axes. */
export function readSweepFlags(flags: FlagValues): SweepOptions {
  const { concurrency, rates } = flags
  const axes = { concurrency, rates }
  const rest = flagsOver(flags, { concurrency: undefined, rates: undefined })
  if (concurrency !== undefined && rates !== undefined) {
    throw new PlimsollError('PLIM_USAGE', '--concurrency and --rates both say what to sweep', {
      expected: 'one of them',
    })
  }
  const axis = rates === undefined ? 'concurrency' : 'rate'
  const loads = text(axes, axis === 'rate' ? 'rates' : 'concurrency')
  const each = (part: string): number =>
    axis === 'rate' ? positiveRate(part, '--rates') : parseCount(part, '--concurrency', 1)
  // Loads that are given are all tried; only those that are found have a most.
  const listed =
    loads === undefined
      ? null
      : wordOr('auto', null, loads, (value) =>
          value
            .split(',')
            .filter((part) => part !== '')
            .map(each),
        )
  const points = listed === null ? text(flags, 'points') : undefined
  const perPoint = text(flags, 'duration-per-point')
  const confirm = isOn(flags, 'confirm')
  const confirmFor = confirm === false ? undefined : text(flags, 'confirm-duration')
  const resume = text(flags, 'resume')
  const otherFolder = ['out', 'runs-dir', 'name'].find((name) => text(flags, name) !== undefined)
  if (resume !== undefined && otherFolder !== undefined) {
    throw new PlimsollError('PLIM_USAGE', `--resume names the folder, and so does --${otherFolder}`, {
      expected: 'one of them',
    })
  }
  return {
    ...readRunFlags(rest),
    ...(loads === undefined && rates === undefined ? {} : { axis }),
    ...(listed === null ? {} : { loads: listed }),
    ...(points === undefined ? {} : { maxPoints: parseCount(points, '--points', 2, 1000) }),
    ...(perPoint === undefined
      ? {}
      : { pointDurationMs: positiveDuration(perPoint, '--duration-per-point') }),
    ...(confirmFor === undefined
      ? {}
      : { confirmDurationMs: positiveDuration(confirmFor, '--confirm-duration') }),
    ...(resume === undefined ? {} : { resume }),
    ...(confirm === undefined ? {} : { confirm }),
  }
}

function readUsers(value: string, flag: string): number {
  if (!value.includes(',')) return parseCount(value, flag, 1)
  throw new PlimsollError('PLIM_USAGE', `${flag} of a run is one number of users`, {
    received: `"${value}"`,
    hint: `plimsoll sweep ${flag} ${value}`,
  })
}

/** A key on the command line would be seen by everyone on the machine: only its variable's name is taken. */
function readVariableName(value: string, flag: string): string {
  if (/^[A-Za-z_]\w*$/.test(value)) return value
  throw new PlimsollError('PLIM_USAGE', `${flag} takes the name of an environment variable, not a key`, {
    expected: `${flag} OPENAI_API_KEY`,
    hint: 'put the key into a variable; what was given is not printed here',
  })
}

function readRate(value: string, flag: string): number | 'inf' {
  return /^infinity$/i.test(value) ? 'inf' : wordOr('inf', 'inf', value, (text) => positiveRate(text, flag))
}

function readPercentiles(value: string, flag: string): readonly string[] {
  return value
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const percent = part.trim().replace(/^p/i, '').replace(/%$/, '')
      const share = parsePercent(`${percent}%`, flag)
      if (share > 0)
        return String(Number(percent)) === percent
          ? percent
          : percent.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
      throw new PlimsollError('PLIM_USAGE', `${flag} has a percentile of 0`, {
        expected: 'percentiles above 0 and up to 100',
      })
    })
}

function readPairs(
  pairs: readonly string[],
  flag: string,
  separator: RegExp,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.search(separator)
      // The pair is not shown: a header may hold a key.
      if (at <= 0)
        throw new PlimsollError('PLIM_USAGE', `${flag} takes pairs`, { expected: `${flag} NAME=VALUE` })
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
    }),
  )
}

function readHeaders(pairs: readonly string[]): Readonly<Record<string, string>> {
  const headers = readPairs(pairs, '--header', /[=:]/)
  for (const [name, value] of Object.entries(headers)) parseHeader(name, value)
  return headers
}

function readSettings(pairs: readonly string[]): Readonly<Record<string, string | true>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [pair, true] : [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

function readObjectives(flags: FlagValues): readonly ObjectiveConfig[] {
  const objectives: ObjectiveConfig[] = list(flags, 'slo').map((one) => ({
    name: null,
    text: one.trim(),
    good: null,
    form: 'plimsoll',
    shedIsBad: true,
  }))
  const goodput = list(flags, 'goodput')
  for (const one of goodput) {
    if (!/^[a-z_\d]+:[\d.]+$/i.test(one)) {
      throw new PlimsollError('PLIM_USAGE', '--goodput takes name:milliseconds', {
        expected: '--goodput ttft:500 tpot:30 e2el:3000',
        received: `"${one}"`,
        hint: "for units and other forms: --slo 'ttft < 500ms and tpot < 30ms'",
      })
    }
  }
  if (goodput.length > 0) {
    objectives.push({ name: null, text: goodput.join(' '), good: null, form: 'vllm', shedIsBad: true })
  }
  return objectives
}

const samplingNumbers = [
  ['temperature', 'temperature'],
  ['top-p', 'top_p'],
  ['top-k', 'top_k'],
  ['min-p', 'min_p'],
] as const

function readBody(flags: FlagValues): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  for (const [flag, field] of samplingNumbers) {
    const value = text(flags, flag)
    if (value !== undefined) body[field] = parseNumber(value, `--${flag}`)
  }
  const json = text(flags, 'extra-body')
  return json === undefined ? body : { ...body, ...readJsonObject(json, '--extra-body') }
}

/** What stands in it is not told: a body may hold a key. */
function readJsonObject(json: string, flag: string): Readonly<Record<string, unknown>> {
  const expected = `${flag} '{"temperature": 0}'`
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    const fault = jsonFault(json) ?? { offset: 0, expected: 'JSON' }
    throw new PlimsollError('PLIM_USAGE', `${flag} is not JSON`, {
      expected,
      received: `something else than ${fault.expected} at character ${fault.offset + 1}`,
    })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new PlimsollError('PLIM_USAGE', `${flag} is not a JSON object`, {
    expected,
    received: Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`,
  })
}
