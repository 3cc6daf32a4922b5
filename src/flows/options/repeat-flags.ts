import type { RepeatFlags } from '../../report/documents.ts'
import { resolveRunConfig } from './resolve.ts'
import { asksExactLengths } from './resolve-workload.ts'
import { defaults } from './defaults.ts'
import type { LengthConfig, OneWorkloadConfig, RunConfig, WorkloadConfig } from './run-config.ts'
import { describeLength } from './length-text.ts'

/**
 * What a run was told, as flags, so that the command that is suggested next asks for the same: a pure function of the config, whose
 * parts that are the defaults are left out, except the lengths, which `run` and `sweep` do not have in common. Null where the config
 * says what no flag can (a mix with lengths of its own, from plimsoll.yaml), or none is known. The salt is a fresh one again.
 * @throws TypeError for a config, read from a file, that lacks what a flag would say.
 */
export function repeatFlags(given: Partial<RunConfig>): RepeatFlags | null {
  if (given.workload === undefined) return null
  const config: RunConfig = { ...resolveRunConfig({}), ...given }
  const workload = workloadFlags(config.workload)
  if (workload === null) return null
  return {
    asked: [
      ...targetFlags(config),
      ...workload,
      ...cancelFlags(config),
      ...switchFlag('ignore-eos', config.ignoreEos, asksExactLengths(config.workload)),
      ...(Object.keys(config.extraBody).length === 0
        ? []
        : ['--extra-body', JSON.stringify(config.extraBody)]),
      ...valueFlag('body-template', config.bodyTemplatePath),
      ...valueFlag('tokenizer', config.tokenizerPath),
      ...valueFlag('seed', config.seed === defaults.seed ? null : config.seed),
      ...switchFlag('warm-prefix', config.warmPrefix, false),
      ...judgeFlags(config),
      ...timeoutFlags(config),
    ],
    ends: endFlags(config),
  }
}

function valueFlag(name: string, value: string | number | null): readonly string[] {
  return value === null ? [] : [`--${name}`, word(name, value)]
}

/** A word of a command line. The config may be a file's, where anything may stand, whatever its type says. */
function word(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  throw new TypeError(`nothing that --${name} could say`)
}

function number(name: string, value: number): number {
  if (Number.isFinite(value)) return value
  throw new TypeError(`nothing that --${name} could say`)
}

function switchFlag(name: string, isOn: boolean, byDefault: boolean): readonly string[] {
  return isOn === byDefault ? [] : [isOn ? `--${name}` : `--no-${name}`]
}

function targetFlags(config: RunConfig): readonly string[] {
  const { api, models, target } = config
  const model =
    models.length > 0
      ? models.map(({ name, weight }) => `${word('model', name)}:${word('model', weight)}`).join(',')
      : config.model
  const key = api === 'anthropic' ? 'ANTHROPIC_API_KEY' : defaults.keyEnv
  return [
    ...valueFlag('api', api === defaults.api ? null : api),
    ...(config.stream ? [] : ['--no-stream']),
    ...valueFlag('endpoint', config.endpoint),
    ...valueFlag('model', model),
    ...valueFlag('key-env', config.keyEnv === key ? null : config.keyEnv),
    ...Object.entries(config.headers).flatMap(([name, value]) => [
      '--header',
      `${name}=${word('header', value)}`,
    ]),
    ...switchFlag('insecure', config.insecure, false),
    ...switchFlag('http2', config.http2, false),
    ...valueFlag('aws-sigv4', config.awsSigv4),
    ...valueFlag('ca', config.caFile),
    ...config.metricsUrls.flatMap((url) => valueFlag('metrics-url', url)),
    ...valueFlag('replica-header', config.replicaHeader),
    ...valueFlag('kv-tokens', config.kvTokens),
    ...(target.kind === 'server' ? [] : engineFlags(target)),
  ]
}

function engineFlags({
  settings,
  faults,
}: Extract<RunConfig['target'], { kind: 'embedded' }>): readonly string[] {
  return [
    ...Object.entries(settings).flatMap(([name, value]) => [
      '--engine',
      value === true ? name : `${name}=${word('engine', value)}`,
    ]),
    ...faults.flatMap((fault) => valueFlag('fault', fault)),
  ]
}

function workloadFlags(workload: WorkloadConfig): readonly string[] | null {
  switch (workload.kind) {
    case 'random':
      return [
        ...lengthFlags(workload),
        ...valueFlag('shared-prefix', workload.sharedPrefixTokens ?? null),
        ...valueFlag(
          'prefix-hit-rate',
          workload.sharedPrefixShare === undefined
            ? null
            : percent('prefix-hit-rate', workload.sharedPrefixShare),
        ),
      ]
    case 'sessions': {
      const pause = span('turn-think', workload.thinkTimeMs)
      const think = workload.thinkTime === 'exponential' ? `exponential ${pause}` : pause
      return [
        ...lengthFlags(workload),
        ...valueFlag('turns', workload.turns),
        ...valueFlag('turn-think', workload.thinkTimeMs === 0 ? null : think),
      ]
    }
    case 'mix': {
      const classes = workload.classes.map((one) => {
        const what = classText(one.workload)
        return what === null ? null : `${word('class', one.name)}=${word('class', one.weight)}:${what}`
      })
      return classes.includes(null) ? null : classes.flatMap((one) => valueFlag('class', one))
    }
    case 'trace':
      return [
        ...fileFlags(workload),
        ...valueFlag('trace-speed', workload.speed === 1 ? null : `${word('trace-speed', workload.speed)}x`),
      ]
    default:
      return [
        ...fileFlags(workload),
        ...valueFlag('output', workload.output === null ? null : lengthText('output', workload.output)),
      ]
  }
}

function fileFlags({ kind, path }: { readonly kind: string; readonly path: string }): readonly string[] {
  return [...valueFlag('workload', kind), '--dataset-path', word('dataset-path', path)]
}

function lengthFlags({
  prompt,
  output,
}: {
  readonly prompt: LengthConfig
  readonly output: LengthConfig
}): readonly string[] {
  return ['--prompt', lengthText('prompt', prompt), '--output', lengthText('output', output)]
}

/** As `parseLength` reads it, without the commas of thousands. */
function lengthText(name: string, length: LengthConfig): string {
  for (const value of lengthNumbers(length)) number(name, value)
  return length.kind === 'fixed' ? String(length.tokens) : describeLength(length)
}

function lengthNumbers(length: LengthConfig): readonly number[] {
  if (length.kind === 'fixed') return [length.tokens]
  if (length.kind === 'uniform') return [length.low, length.high]
  if (length.kind === 'normal') return [length.mean, length.sd]
  return [length.median, length.p99]
}

/** What a class of a mix asks, in the forms of `--class`; null for what only the file can say. */
function classText(workload: OneWorkloadConfig): string | null {
  if (workload.kind === 'trace') return null
  if (workload.kind !== 'random')
    return workload.output === null ? `${workload.kind}:${word('class', workload.path)}` : null
  const { prompt, output } = workload
  if (workload.sharedPrefixShare !== undefined || workload.sharedPrefixTokens !== undefined) return null
  for (const value of [...lengthNumbers(prompt), ...lengthNumbers(output)]) number('class', value)
  if (prompt.kind === 'fixed' && output.kind === 'fixed') return `D(${prompt.tokens},${output.tokens})`
  if (prompt.kind === 'normal' && output.kind === 'normal')
    return `N(${prompt.mean},${prompt.sd})/(${output.mean},${output.sd})`
  if (prompt.kind === 'uniform' && output.kind === 'uniform')
    return `U(${prompt.low},${prompt.high})/(${output.low},${output.high})`
  return null
}

function cancelFlags({ cancel }: RunConfig): readonly string[] {
  if (cancel === null) return []
  return [
    '--cancel-rate',
    percent('cancel-rate', cancel.share),
    ...valueFlag('cancel-after', cancel.afterMs === 0 ? null : span('cancel-after', cancel.afterMs)),
  ]
}

function judgeFlags(config: RunConfig): readonly string[] {
  const usual = config.percentiles.join(',') === defaults.percentiles.join(',')
  return [
    ...config.objectives.flatMap(({ form, text, good }) =>
      form === 'vllm'
        ? ['--goodput', ...text.split(/\s+/)]
        : ['--slo', good === null ? word('slo', text) : `${word('slo', text)}, good ${word('slo', good)}`],
    ),
    ...valueFlag('percentiles', usual ? null : config.percentiles.join(',')),
    ...valueFlag('percentile-type', config.percentileType === '1' ? null : config.percentileType),
  ]
}

function timeoutFlags({ timeouts }: RunConfig): readonly string[] {
  const limit = (name: string, ms: number | null, usual: number | null): readonly string[] =>
    ms === usual ? [] : [`--timeout-${name}`, ms === null ? 'none' : span(`timeout-${name}`, ms)]
  return [
    ...limit('connect', timeouts.connectMs, defaults.connectTimeoutMs),
    ...limit('first-token', timeouts.firstTokenMs, defaults.firstTokenTimeoutMs),
    ...limit('idle', timeouts.idleMs, defaults.idleTimeoutMs),
    ...limit('total', timeouts.totalMs, defaults.totalTimeoutMs),
  ]
}

function endFlags({ count, durationMs, warmup, drainMs }: RunConfig): readonly string[] {
  const usual = durationMs === null || (durationMs === defaults.durationMs && count === null)
  return [
    ...valueFlag('num-prompts', count),
    ...valueFlag('duration', usual ? null : span('duration', durationMs)),
    ...valueFlag(
      'warmup',
      warmup.kind === 'detect' ? 'auto' : warmup.ms === defaults.warmupMs ? null : span('warmup', warmup.ms),
    ),
    ...valueFlag('drain', drainMs === defaults.drainMs ? null : span('drain', drainMs)),
  ]
}

function span(name: string, ms: number): string {
  return number(name, ms) % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`
}

export function percent(name: string, share: number): string {
  return `${Number((100 * number(name, share)).toPrecision(12))}%`
}
