import { PlimsollError } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { noun } from '../../base/noun.ts'
import type { EngineServer } from '../../simulate/engine/server/engine-server.ts'
import type { EngineConfig } from '../../simulate/engine/engine-config.ts'
import { enginePreset } from '../../simulate/engine/presets.ts'
import { engineSettingForms } from '../../simulate/engine/server/engine-setting-table.ts'
import {
  type EngineSettings,
  type SettingTexts,
  readEngineSettings,
} from '../../simulate/engine/server/engine-settings.ts'

/** What `plimsoll engine` needs of the invocation; the command line's own type has it all, and more. */
export interface EngineInvocation {
  readonly flags: SettingTexts
  readonly cli: {
    readonly stdout: { readonly write: (text: string) => void }
    readonly readFile: (path: string) => Promise<string | null>
    readonly flowDeps: (voice: {
      readonly onProgress: () => void
      readonly onNotice: (text: string) => void
      readonly confirm: () => Promise<boolean>
    }) => Promise<{ readonly clock: Clock; readonly wallClock: () => number; readonly signal: AbortSignal }>
  }
}

/** Serves until Ctrl-C; exit code 0. */
export async function runEngineVerb({ flags, cli }: EngineInvocation): Promise<0> {
  const { config: configPath, json, ...given } = flags
  const fromFile = typeof configPath === 'string' ? await readConfig(configPath, cli.readFile) : {}
  const settings = readEngineSettings({ ...fromFile, ...given, ...joinedFaults(fromFile, given) })
  const { startEngineServer } = await import('../../simulate/engine/server/engine-server.ts')
  const deps = await cli.flowDeps({
    onProgress: () => {},
    onNotice: () => {},
    confirm: () => Promise.resolve(true),
  })
  const server = await startEngineServer({
    ...settings,
    clock: deps.clock,
    hrtimeNs: () => process.hrtime.bigint(),
    wallClockMs: deps.wallClock,
  })
  cli.stdout.write(
    json === true ? `${JSON.stringify(engineFacts(server, settings))}\n` : engineBanner(server, settings),
  )
  await new Promise<void>((resolve) => {
    if (deps.signal.aborted) resolve()
    else deps.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await server.close()
  return 0
}

/** The settings of a YAML or JSON file: the flags' names without dashes, and `faults` as a list. */
async function readConfig(
  path: string,
  readFile: (path: string) => Promise<string | null>,
): Promise<SettingTexts> {
  const text = await readFile(path)
  if (text === null)
    throw new PlimsollError('PLIM_CONFIG', `there is no file ${path}`, { where: { file: path } })
  const { readYaml } = await import('../../base/positioned-yaml.ts')
  const expected = 'a mapping like max-num-seqs: 64'
  const yaml = readYaml(text, path, {
    what: 'settings of the engine',
    expected,
    hint: 'plimsoll engine --help tells each of them; without a file, or with {} in it, the defaults hold',
  })
  const content = yaml.value
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new PlimsollError('PLIM_CONFIG', 'the engine’s file holds no settings', {
      expected,
      where: yaml.where([]),
    })
  }
  const settings: Record<string, string | boolean | readonly string[]> = {}
  for (const [key, value] of Object.entries(content)) {
    const name = key === 'faults' ? 'fault' : key.replaceAll('_', '-')
    if (!(name in engineSettingForms)) {
      throw new PlimsollError('PLIM_CONFIG', `the engine has no setting "${key}"`, {
        expected: `${Object.keys(engineSettingForms).join(', ')}, faults`,
        where: yaml.where([key], 'key'),
      })
    }
    settings[name] =
      typeof value === 'boolean'
        ? value
        : !Array.isArray(value)
          ? stepTimeText(value)
          : name === 'fault'
            ? value.map(String)
            : value.join(',')
  }
  return settings
}

/** `step-time: {c0: 6.4ms}` says the same as its text. */
function stepTimeText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',')
}

/** Faults add up; every other setting of a flag replaces the file's. */
function joinedFaults(file: SettingTexts, flags: SettingTexts): SettingTexts {
  const faults = [file['fault'], flags['fault']].flatMap((value) =>
    value === undefined || typeof value === 'boolean' ? [] : typeof value === 'string' ? [value] : value,
  )
  return faults.length === 0 ? {} : { fault: faults }
}

function engineFacts(server: EngineServer, settings: EngineSettings): object {
  return {
    schema: 'plimsoll.engine/1',
    url: server.url,
    /** Zero of the faults' times, on the clock of the truth file and of a run's `clock`. */
    clock: { origin_monotonic_ns: Number(server.originMonotonicNs) },
    model: settings.modelName,
    preset: settings.preset,
    seed: settings.seed,
    config: settings.config,
    output: settings.outputLength,
    faults: settings.faults,
    truth: settings.truthPath,
  }
}

function schedulerWords({ policy, speculative, asyncScheduling, mixedChunk }: EngineConfig): string {
  if (policy === 'static') return 'static batching'
  if (policy === 'sglang') return `the scheduler of SGLang${mixedChunk ? ' with mixed chunks' : ''}`
  const drafts =
    speculative === null
      ? ''
      : `, ${speculative.draftTokens} drafted ${noun(speculative.draftTokens, 'token')} a step (accepted ${speculative.acceptRates.join(', ')})`
  return `the scheduler of vLLM V1${asyncScheduling ? ', asynchronous' : ''}${drafts}`
}

/** What stands on the terminal while it serves: where, what it is, and what to do next. */
export function engineBanner(server: Pick<EngineServer, 'url'>, settings: EngineSettings): string {
  const { config } = settings
  const { stepTime } = config
  const tokens = (config.numGpuBlocks - 1) * config.blockSize
  const number = (value: number): string => value.toLocaleString('en-US')
  const short = (value: number): string => String(Number(value.toPrecision(4)))
  const lines = [
    `serving ${settings.modelName} at ${server.url}   Ctrl-C ends`,
    `  a simulation: ${schedulerWords(config)}, made-up text, no GPU; preset ${settings.preset} (${enginePreset(settings.preset).title}), seed ${settings.seed}`,
    `  ${number(config.maxNumSeqs)} seats, ${number(config.maxNumBatchedTokens)} tokens a step, ${number(tokens)} KV tokens, context ${number(config.maxModelLen)}${
      config.enablePrefixCaching ? '' : ', no prefix cache'
    }${config.enableChunkedPrefill ? '' : ', no chunked prefill'}`,
    `  step ${short(stepTime.baseMs)} ms + ${short(stepTime.perTokenMs * 1000)} µs a token over ${number(stepTime.kneeTokens)} + ${short(
      stepTime.perContextTokenMs * 1e6,
    )} ns a context token + ${short(stepTime.perSequenceMs * 1000)} µs a row`,
    ...settings.faults.map((fault) => `  fault: ${fault}`),
    ...(settings.truthPath === null ? [] : [`  truth of each request: ${settings.truthPath}`]),
    `plimsoll run --url ${server.url} --request-rate 5 --duration 60s --slo 'ttft < 500ms and tpot < 30ms'`,
  ]
  return `${lines.join('\n')}\n`
}
