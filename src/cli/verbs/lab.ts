import { PlimsollError } from '../../base/errors.ts'
import { nearest } from '../../base/edit-distance.ts'
import type { LabDocument } from '../../report/lab-documents.ts'
import { assignInputs, assumed, optional, several, type Input } from '../../stats/calculators/inputs.ts'
import { count, duration, level, rate, share, word } from '../../stats/calculators/quantities.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn } from '../flags/flag-values.ts'
import { inputFlags, inputTexts } from '../flags/input-flags.ts'
import { printResult } from '../print-result.ts'
import type { CliContext, FlagSpecs, Invocation, Verb } from '../verb.ts'
import { stderrVoice } from '../voice.ts'

const output: FlagSpecs = {
  json: { kind: 'switch', group: 'Output', brief: 'One JSON document on stdout' },
  ascii: {
    kind: 'switch',
    group: 'Output',
    brief: 'Pictures in plain ASCII; by itself where the locale has no UTF-8',
  },
}
const text = { placeholder: 'TEXT', read: (given: string): string => given }

interface Experiment<I extends Readonly<Record<string, Input<unknown>>>> {
  readonly brief: string
  readonly description: string
  readonly inputs: I
  readonly examples: Verb['examples']
  readonly run: (
    values: { readonly [K in keyof I]: I[K] extends Input<infer T> ? T : never },
    cli: CliContext,
    given: readonly string[],
  ) => Promise<LabDocument>
}

function experiment<I extends Readonly<Record<string, Input<unknown>>>>(
  name: string,
  one: Experiment<I>,
): Verb {
  const bare = Object.entries(one.inputs).filter(([, { bare }]) => bare)
  return {
    brief: one.brief,
    description: one.description,
    positional: {
      placeholder: bare.map(([flag]) => flag.toUpperCase()).join(' ') || name,
      brief: bare.map(([, { brief }]) => brief).join('; ') || 'Nothing else without a flag',
      minimum: 0,
    },
    examples: one.examples,
    flags: { ...inputFlags(one.inputs), ...output },
    async run({ flags, args, cli }: Invocation): Promise<ExitCode> {
      const texts = inputTexts(flags)
      const values = assignInputs(one.inputs, { args: args.slice(1), flags: texts }, `plimsoll lab ${name}`)
      const document = await one.run(values as Parameters<typeof one.run>[0], cli, Object.keys(texts))
      await printResult(document, { flags, cli }, async () => {
        const { renderLab } = await import('../../report/lab-text.ts')
        const ascii = isOn(flags, 'ascii') ?? !hasUtf8(cli)
        return renderLab(document, { color: cli.stdout.color, ascii })
      })
      return exitCodes.fine
    },
  }
}

/** A locale that is set and is not UTF-8 cannot show blocks and dots. None set says nothing: terminals today can. */
function hasUtf8(cli: Pick<CliContext, 'env'>): boolean {
  const locale = [cli.env('LC_ALL'), cli.env('LC_CTYPE'), cli.env('LANG')].find(
    (one) => one !== undefined && one !== '',
  )
  return locale === undefined || /utf-?8/i.test(locale)
}

const seed = assumed(text, '1', 'the same seed draws the same')

const tail = experiment('tail', {
  brief: 'How much a P99 wobbles, and what twenty calls make of it',
  description:
    'Draws the percentile of few values again and again, beside its closed form, and tasks of many calls by brute force.',
  inputs: {
    sizes: several(count(1, 1_000_000), 0, 'numbers of values; 100, 1,000 and 10,000 unless said', {
      bare: true,
      also: ['n'],
    }),
    percentile: assumed(level, '99', 'the percentile', { also: ['p'] }),
    shape: assumed(
      word('exponential', 'lognormal', 'pareto'),
      'exponential',
      'how latencies are distributed',
    ),
    repeats: assumed(count(20), '2000', 'how often each is drawn, at most', { also: ['draws'] }),
    calls: assumed(count(1), '20', 'calls of a task', { also: ['k'] }),
    slow: assumed(share, '1%', 'share of the calls that are slow', { also: ['q'] }),
    tasks: assumed(count(100), '400000', 'tasks drawn'),
    seed,
  },
  examples: [
    ['plimsoll lab tail', 'the two experiments'],
    ['plimsoll lab tail 30 300 3000 --shape pareto', 'a heavier tail'],
    ['plimsoll lab tail --calls 100 --slow 1%', 'a fan-out to 100'],
  ],
  async run({ sizes, percentile, shape, repeats, calls, slow, tasks, seed }) {
    const { labTail } = await import('../../flows/lab-tail.ts')
    return labTail({
      seed,
      percentile,
      shape,
      sizes: sizes.length === 0 ? [100, 1000, 10_000] : sizes,
      repeats,
      calls,
      slow: slow.value,
      tasks,
    })
  },
})

const walls = experiment('walls', {
  brief: 'Saturation, SLO and memory: which wall binds?',
  description:
    'A concurrency sweep from a table, from a measured sweep, or simulated on the engine in virtual time; the three walls in it, the one that binds, and the law of scalability beside the points.',
  inputs: {
    from: optional(
      { placeholder: 'FILE|SWEEP', read: text.read },
      'a table (CSV or JSON), or the folder of a sweep; simulated without',
      { bare: true, also: ['table', 'sweep'] },
    ),
    tpot: assumed(duration, '10ms', 'limit on the P99 of TPOT', { also: ['tpot-limit'] }),
    ttft: optional(duration, 'limit on the P99 of TTFT', { also: ['ttft-limit'] }),
    'kv-tokens': optional(count(1), 'tokens of the KV pool; the engine’s own when simulated', {
      also: ['pool-tokens'],
    }),
    request: optional(count(1), 'tokens of a request when it ends', { also: ['tokens-per-request'] }),
    loads: several(count(1, 10_000), 0, 'users to simulate', { also: ['concurrency', 'users'] }),
    preset: assumed(text, 'demo', 'engine to simulate', { also: ['engine'] }),
    prompt: assumed(count(1, 1_000_000), '256', 'mean prompt tokens of the simulated requests', {
      also: ['input'],
    }),
    output: assumed(count(2, 100_000), '128', 'mean output tokens of the simulated requests'),
    seed,
  },
  examples: [
    ['plimsoll lab walls', 'a simulated sweep'],
    ['plimsoll lab walls --preset h100-8b --prompt 1000 --output 200 --tpot 30ms', 'another engine'],
    ['plimsoll lab walls --loads 1,8,32,128 --tpot 12ms', 'these loads'],
  ],
  async run(i, cli, given) {
    const simulated = ['loads', 'preset', 'prompt', 'output', 'seed'].find((name) => given.includes(name))
    if (i.from !== null && simulated !== undefined) {
      throw new PlimsollError(
        'PLIM_USAGE',
        `--${simulated} is of a simulation, and the loads were measured`,
        {
          expected: 'a table or a sweep, or what is to be simulated',
          received: `${i.from} and --${simulated}`,
        },
      )
    }
    const { labWalls, poolTokens, simulateLoads } = await import('../../flows/lab-walls.ts')
    const limits = { tpotLimitMs: i.tpot.value, ttftLimitMs: i.ttft?.value ?? null }
    if (i.from !== null) {
      const { loadsOfSweep, readLoadTable } = await import('../../flows/lab-table.ts')
      const isTable = /\.(csv|tsv|txt|md)$|(?<!sweep)\.json$/i.test(i.from)
      const pool = { kvTokens: i['kv-tokens'], tokensPerRequest: i.request }
      if (isTable) {
        const table = await cli.readFile(i.from)
        if (table === null) throw new PlimsollError('PLIM_FILE', `${i.from} is not there`)
        return labWalls({
          source: i.from,
          seed: null,
          points: readLoadTable(table, i.from),
          ...limits,
          ...pool,
        })
      }
      const voice = stderrVoice(cli, { quiet: true, progress: false, yes: true })
      const { shown } = await cli.flows.showFlow([i.from], await cli.flowDeps(voice))
      const sweep = shown[0]
      if (sweep?.kind !== 'sweep') {
        throw new PlimsollError('PLIM_USAGE', `${i.from} is one run, not a sweep`, { hint: 'plimsoll sweep' })
      }
      const { memory } = sweep.document.walls
      return labWalls({
        source: `measured: ${i.from}`,
        seed: null,
        points: loadsOfSweep(sweep.document),
        ...limits,
        kvTokens: pool.kvTokens ?? memory?.kv_tokens ?? null,
        tokensPerRequest: pool.tokensPerRequest ?? memory?.tokens_per_request ?? null,
      })
    }
    const { enginePreset } = await import('../../simulate/engine/presets.ts')
    const { config, title } = enginePreset(i.preset)
    return labWalls({
      source: `simulated: ${title}; ${i.prompt} prompt + ${i.output} output tokens`,
      seed: i.seed,
      points: simulateLoads({
        config,
        seed: i.seed,
        loads: i.loads.length === 0 ? [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128] : i.loads,
        promptTokens: i.prompt,
        outputTokens: i.output,
      }),
      ...limits,
      kvTokens: i['kv-tokens'] ?? poolTokens(config),
      tokensPerRequest: i.request ?? i.prompt + i.output,
    })
  },
})

const omission = experiment('omission', {
  brief: 'A waiting and a scheduled client through the same stall',
  description:
    'A server freezes once. One client sends by the clock and times from the schedule, another waits for each answer: what do they report?',
  inputs: {
    rate: assumed(rate, '5/s', 'requests by the schedule', { bare: true }),
    duration: assumed(duration, '60s', 'length of the test', { bare: true }),
    stall: assumed(duration, '3s', 'length of the stall', { bare: true, also: ['freeze'] }),
    at: assumed(duration, '10s', 'when it begins', { also: ['start'] }),
    service: assumed(duration, '20ms', 'time of a request without it'),
    server: assumed(
      word('parallel', 'serial'),
      'parallel',
      'whether requests are served side by side or in turn',
    ),
  },
  examples: [
    ['plimsoll lab omission', 'five a second, frozen for three seconds'],
    [
      'plimsoll lab omission 50/s 60s 1s --server serial --service 15ms',
      'a backlog that is worked off in turn',
    ],
  ],
  async run({ rate, duration, stall, at, service, server }) {
    if (!(rate.value > 0 && duration.value > 0) || (rate.value * duration.value) / 1000 > 1_000_000) {
      throw new PlimsollError('PLIM_NUMBER', 'so many requests cannot be followed', {
        expected: '1 to 1M requests',
      })
    }
    const { refuseOutside } = await import('../../stats/calculators/stall.ts')
    refuseOutside({ length: duration, at, stall, service })
    const { labOmission } = await import('../../flows/lab-omission.ts')
    return labOmission({
      ratePerSecond: rate.value,
      durationMs: duration.value,
      stallMs: stall.value,
      stallStartMs: at.value,
      serviceMs: service.value,
      server,
    })
  },
})

const experiments: Readonly<Record<string, Verb>> = { tail, walls, omission }

export const labVerb: Verb = {
  brief: 'Experiments, to convince oneself',
  description:
    'Three experiments that take seconds: tail (how much a P99 wobbles, and what an agent of twenty calls makes of it), walls (saturation, SLO, memory: which binds) and omission (a waiting and a scheduled client through the same stall). Seeded; closed forms stand beside the simulation.',
  positional: { placeholder: 'EXPERIMENT', brief: 'tail, walls or omission', minimum: 0 },
  examples: [
    ['plimsoll lab tail', 'percentiles of few values, tasks of many calls'],
    ['plimsoll lab walls', 'a simulated sweep and its walls'],
    ['plimsoll lab omission', 'what a waiting client does not see'],
    ['plimsoll lab walls --help', 'what this one takes'],
  ],
  flags: {},
  select(name) {
    const found = experiments[name]
    if (found !== undefined) return found
    const near = nearest(name, Object.keys(experiments))
    throw new PlimsollError('PLIM_USAGE', `there is no experiment ${name}`, {
      hint: near === null ? 'they are tail, walls and omission' : `did you mean plimsoll lab ${near}?`,
    })
  },
  run({ cli }) {
    const width = Math.max(...Object.keys(experiments).map((name) => name.length))
    const lines = Object.entries(experiments).map(
      ([name, { brief }]) => `  plimsoll lab ${name.padEnd(width)}  ${brief}`,
    )
    cli.stdout.say(`${lines.join('\n')}\n`)
    return Promise.resolve(exitCodes.fine)
  },
}
