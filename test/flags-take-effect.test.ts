import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Flows } from '../src/cli/flows.ts'
import type { FlagSpec, Verb } from '../src/cli/verb.ts'
import { planFlow } from '../src/flows/plan.ts'
import { runSlo } from '../src/cli/verbs/slo-actions.ts'
import { verbEntries } from '../src/cli/verbs/registry.ts'
import { cliRun } from './fixtures/cli.ts'
import { betweenTwoRates } from './fixtures/find.ts'
import { fiveRuns } from './fixtures/experiment.ts'
import { sixPerSecond, threeWalls } from './fixtures/documents.ts'
import { pairedFive, pilot } from './fixtures/compare.ts'
import { seedPrefill } from './fixtures/prefill.ts'
import { slowLong } from './fixtures/why.ts'
import { quietDay, smallModel, threePoints } from './fixtures/simulation.ts'
import { seedPolicy, seedSignals } from './fixtures/scale.ts'

// A flag that is accepted and ignored is a fault: every flag of every verb changes what is asked or printed, or is refused.

const slo = readFileSync(new URL('../examples/slo/vllm.yaml', import.meta.url), 'utf8')

/** A value by what the help calls it; flags that need another are below. */
const byPlaceholder: Readonly<Record<string, string>> = {
  N: '7',
  TIME: '7s',
  RATE: '7/s',
  SHARE: '7%',
  NAME: 'seven',
  FILE: 'seven.json',
  DIR: 'seven',
  TEXT: 'seven',
  PATH: '/seven',
  URL: 'http://seven:7',
  HOST: 'seven',
  PORT: '7',
  LENGTH: '77',
  LIST: '7,8',
  'NAME=VALUE': 'seven=7',
  'KEY=VALUE': 'seven=7',
  COUNT: '7',
  MODEL: 'seven',
  P: '0.7',
  AMOUNT: '7',
  T: '0.7',
  K: '7',
  R: '0.7',
  X: '0.7',
  LABEL: 'replica',
  METRIC: 'ttft_p50',
  TYPE: '7',
  FACTOR: '7',
  JSON: '{"seven": 7}',
  BYTES: '7GB',
  TOKENS: '7',
  SEED: 'seven',
  FORMAT: 'csv',
  GPU: 'seven',
  'FILE.html': 'seven.html',
  'NAME:MS': 'ttft:7',
  WALL: 'memory',
  SIGNAL: 'kv',
  KIND: 'random',
  'HOST:PORT': 'seven:7',
  WHICH: 'lower',
  SCALE: 'log',
  'A,B': 'a,b',
  'SHORT,LONG': '7m,7h',
  'TIME=SHARE': '6h=2%',
  HOW: 'optimistic',
}

const byFlag: Readonly<Record<string, string>> = {
  api: 'tgi',
  workload: 'sharegpt',
  'trace-speed': '7x',
  class: 'chat=3:D(900,200)',
  scenario: 'D(900,200)',
  pacer: 'constant 7/s',
  slo: 'ttft < 7ms',
  'aws-sigv4': 'bedrock:eu-west-1',
  ci: 'github',
  fault: 'stall 3s at 10s',
  engine: 'max-num-seqs=7',
  'turn-think': '7s',
  objective: '99.7%',
  policy: 'lesson',
  metrics: 'ttft_p50',
  junit: 'seven.xml',
  ramp: '7/s/min',
  bandwidth: '7GB/s',
  margin: 'derate:7%',
  run: 'seven',
  resume: 'seven',
}

interface Line {
  readonly line: string
  /** Values that this line takes otherwise. */
  readonly values?: Readonly<Record<string, string>>
  /** What of its own flags would say nothing here, and is refused. */
  readonly refused?: string
  /** Or all that says something here; every other flag is refused. */
  readonly taken?: string
  /** What has no effect here, and is said to have none. */
  readonly told?: string
  /** What these stand-ins cannot show: they answer with documents that have nothing of it. */
  readonly unseen?: string
}

/** What a flag needs beside it, and what it changes is told against that. */
const beside: Readonly<Record<string, string>> = {
  workload: '--dataset-path=seven.json',
  'trace-speed': '--workload=trace --dataset-path=seven.json',
  'turn-think': '--turns=3',
  'cancel-after': '--cancel-rate=7%',
}

const files = { 'seven.json': 'seed: 2', 'slo.yaml': slo }

const points = { points: '256:23ms 8000:280ms' }
// Each is a question of its own: --run, --plan and --csv beside each other are refused with the word on it.
const shares = { margin: '7%' }
const pages = { policy: 'sre-workbook', window: '28d', 'min-bad': '700' }
const plans = { class: 'chat=7/s', margin: 'derate:7%' }
// These files are really written.
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-flags-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const rules = {
  out: join(folder, 'slo'),
  engine: 'sglang',
  format: 'crd',
  unreachable: 'refit',
  policy: 'lesson',
}

const lines: readonly Line[] = [
  { line: 'run' },
  { line: 'run --url http://a:8000', refused: 'host port engine fault' },
  { line: 'run --repeat 2', refused: 'salt explain junit ci' },
  { line: 'sweep', refused: 'trace-speed' },
  { line: 'sweep --concurrency 1,2,4', refused: 'rates points trace-speed' },
  { line: 'sweep --no-confirm', refused: 'confirm confirm-duration trace-speed' },
  { line: 'sweep --resume runs/x', refused: 'trace-speed name runs-dir out' },
  { line: 'find', refused: 'trace-speed goodput' },
  { line: 'prefill', values: points },
  { line: 'prefill points.csv', values: points, taken: 'chunk json explain' },
  { line: 'prefill --points 256:23ms 8000:280ms', taken: 'points chunk json explain' },
  {
    line: 'compare a -- b',
    values: shares,
    taken: 'margin primary metrics confidence power plan run json explain',
  },
  {
    line: 'compare --run http://a http://b',
    values: shares,
    refused: 'baseline effect csv columns better scale',
  },
  {
    line: 'compare --csv scores.csv',
    values: shares,
    taken: 'margin primary metrics confidence power plan run columns better scale json explain',
  },
  {
    line: 'compare --plan a',
    values: shares,
    taken: 'margin primary metrics confidence power baseline effect run json',
    told: 'explain',
  },
  { line: 'why a b' },
  { line: 'show a', told: 'force' },
  { line: 'show a b --as-fleet', taken: 'json' },
  { line: 'export a', told: 'force' },
  { line: 'import a.json', unseen: 'explain' },
  { line: 'import a.json --dry-run', told: 'name runs-dir out', unseen: 'explain' },
  {
    line: 'plan --peak 40/s --each 8/s',
    taken:
      'peak margin class burst survive zones imbalance availability each price tensor-parallel simulate out json explain config',
    values: plans,
  },
  {
    line: 'plan a --peak 40/s --simulate --out plan',
    values: plans,
    refused: 'survive-zones want-up each tested-max-num-seqs weights bandwidth schedule init warm-up probe',
  },
  { line: 'model fit a', told: 'force' },
  { line: 'model measure http://a', refused: 'url host port engine fault', told: 'force' },
  { line: 'model predict m.json --rate 8/s' },
  { line: 'model score m.json a' },
  { line: 'simulate fleet.yaml' },
  { line: 'slo page --objective 99.5% --long 3%', values: pages, refused: 'min-bad prometheus name engine' },
  {
    line: 'slo page --objective 99.5% --at 1h=36/1200 --at 5m=4/100',
    values: pages,
    refused: 'long short prometheus name engine',
  },
  {
    line: 'slo budget --objective 99.5% --requests 2M --bad 250',
    values: { seen: '2000', window: '28d' },
    refused: 'slo prometheus name engine',
  },
  { line: 'slo rules slo.yaml', values: rules, unseen: 'engine edges unreachable' },
  {
    line: 'scale policy a',
    refused:
      'weights bandwidth schedule init warm-up probe on slo deployment namespace prometheus-url scaler-address',
    values: { format: 'keda' },
  },
  { line: 'scale policy a --run b --format keda', refused: 'weights bandwidth schedule init warm-up probe' },
  { line: 'scale signals a' },
  { line: 'scale serve --url http://a --target 20', refused: 'prometheus tls-cert tls-key', unseen: 'json' },
  { line: 'watch --url http://a', refused: 'prometheus name runs-dir', unseen: 'json' },
  { line: 'watch --url http://a --record', refused: 'prometheus', unseen: 'json' },
]

/** Nothing of the work or of what is printed: manners of the terminal. */
const manners = new Set(['quiet', 'progress', 'yes'])

describe('every flag changes what is asked or printed, or is refused', () => {
  test.each(lines)('$line', async ({ line, values = {}, refused = '', taken, told = '', unseen = '' }) => {
    const argv = line.split(' ')
    const entry = verbEntries.find(({ name }) => name === argv[0])!
    const loaded = await entry.load()
    const verb: Verb = loaded.select === undefined || argv[1] === undefined ? loaded : loaded.select(argv[1])
    const ask = (...more: readonly string[]): Promise<Outcome> => outcomeOf([...argv, ...more])
    expect((await ask()).stderr).not.toContain('PLIM_')
    const idle: string[] = []
    const denied: string[] = []
    const noticed: string[] = []
    const others: string[] = []
    for (const [name, spec] of Object.entries(verb.flags)) {
      if ((spec.ignored ?? spec.refused) !== undefined || manners.has(name) || argv.includes(`--${name}`))
        continue
      if (unseen.split(' ').includes(name)) continue
      if (!`${taken} ${told}`.split(' ').includes(name)) others.push(name)
      const partners = beside[name]?.split(' ') ?? []
      const plain = await ask(...partners)
      const outcomes: Outcome[] = []
      for (const args of flagArgs(name, spec, values)) outcomes.push(await ask(...partners, ...args))
      if (outcomes.every(({ exitCode }) => exitCode === 2)) denied.push(name)
      else if (outcomes.some(({ stderr }) => stderr.includes(`--${name} had no effect`))) noticed.push(name)
      else if (outcomes.every((outcome) => same(plain, outcome))) idle.push(name)
    }
    expect({ idle, denied: denied.join(' '), told: noticed.join(' ') }).toEqual({
      idle: [],
      denied: taken === undefined ? refused : others.join(' '),
      told,
    })
  })
})

/** The ways to say it: a switch is on or off. */
function flagArgs(
  name: string,
  spec: FlagSpec,
  values: Readonly<Record<string, string>>,
): readonly (readonly string[])[] {
  if (spec.kind === 'switch')
    return name.startsWith('no-') ? [[`--${name}`]] : [[`--${name}`], [`--no-${name}`]]
  const value = values[name] ?? byFlag[name] ?? byPlaceholder[spec.placeholder ?? '']
  if (value === undefined) throw new Error(`a value for --${name} ${spec.placeholder ?? ''} is wanted`)
  return [spec.manyValues === true ? [`--${name}`, ...value.split(' ')] : [`--${name}=${value}`]]
}

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly asked: string
  readonly written: string
}

function same(a: Outcome, b: Outcome): boolean {
  return a.asked === b.asked && a.stdout === b.stdout && a.written === b.written && !b.stderr.includes('::')
}

async function outcomeOf(argv: readonly string[]): Promise<Outcome> {
  const asked: unknown[] = []
  const flow =
    <T>(outcome: T) =>
    (config: unknown): Promise<T> => {
      asked.push(config)
      return Promise.resolve(outcome)
    }
  const flows: Partial<Flows> = {
    runFlow: flow({ document: sixPerSecond, interrupted: false }),
    experimentFlow: flow({ document: fiveRuns, interrupted: false }),
    sweepFlow: flow({ document: threeWalls, interrupted: false }),
    findFlow: flow({ document: betweenTwoRates, interrupted: false }),
    compareFlow: (config) => {
      asked.push(config)
      return Promise.resolve(
        config.kind === 'plan'
          ? { kind: 'planned' as const, document: pilot }
          : { kind: 'compared' as const, document: pairedFive, interrupted: false },
      )
    },
    exportFlow: async (config, { write }) => {
      asked.push(config)
      await write('{"id":"r-1"}\n')
      return { rows: 1 }
    },
    importFlow: flow({
      schema: 'plimsoll.import/1' as const,
      plimsoll: '0.1.0',
      files: [],
      runs: [],
      together: null,
      warnings: [],
    }),
    modelFlow: flow(smallModel),
    measureModel: flow({ document: threePoints, model: smallModel }),
    simulateFlow: flow({ document: quietDay }),
    prefillFlow: flow({ document: seedPrefill, interrupted: false }),
    whyFlow: flow(slowLong),
    signalsFlow: flow({ document: { ...seedSignals, policy: null } }),
    policyFlow: flow({ document: seedPolicy }),
    serveScaler: flow(undefined),
    watchFlow: flow({ looks: 0, folder: null, last: null }),
    slo: runSlo,
    planFlow: async (config, deps) => {
      asked.push(config)
      return planFlow({ ...config, sweeps: [], each: '8', classes: [], simulate: null, out: null }, deps)
    },
  }
  const { exitCode, stdout, stderr, written } = await cliRun(argv, { flows, files, newest: 'runs/x' })
  const kept = [...written].filter(([path]) => !Object.hasOwn(files, path))
  return { exitCode, stdout, stderr, asked: JSON.stringify(asked), written: JSON.stringify(kept) }
}
