import { formatPercent, formatPlain } from '../base/units.ts'
import { factResidue, figureResidue, type ResidueItem, type RunFacts } from '../judge/residue.ts'
import type { Json } from '../measure/record/manifest.ts'
import type { ArmRun } from './compare-arms.ts'
import { tagsOf } from './run-facts.ts'

/** Settings of the config that say where or how a run was kept, not what was measured. */
const notCompared = new Set([
  'target',
  'keyEnv',
  'pacer',
  'workload',
  'seed',
  'salt',
  'name',
  'out',
  'runsDir',
  'metadata',
  'model',
  'objectives',
  'percentiles',
  'workers',
  'metricsUrls',
  'count',
  'durationMs',
])

/** Tags that say which runs belong together: they differ by design. */
const pairingTags = new Set(['arm', 'block'])

const freshSalt = {
  why: 'that alone can explain a difference',
  next: 'rerun with a fresh salt in both arms (the default)',
}
const sameWork = {
  why: 'the arms were asked for different work',
  next: 'the same --seed, lengths and load in both arms',
}
const sameLength = {
  why: 'longer answers take longer, and slow each other down',
  next: 'fix the length: --ignore-eos, or the same --output in both arms',
}

/** All that differs between the arms besides what was measured. */
export function compareResidue(a: readonly ArmRun[], b: readonly ArmRun[]): readonly ResidueItem[] {
  const sameSeeds = seedsOf(a) === seedsOf(b)
  const facts = (run: ArmRun): RunFacts => factsOf(run, sameSeeds)
  return [
    ...factResidue(a.map(facts), b.map(facts), {
      workload: sameWork,
      load: sameWork,
      'requests asked': sameWork,
      'prefix cache': freshSalt,
    }),
    ...figureResidue(
      [
        {
          name: 'prefix-cache hits',
          a: a.map(hitRate),
          b: b.map(hitRate),
          kind: 'share',
          tolerance: 0.02,
          explains: freshSalt,
        },
        {
          name: 'tokens a prompt',
          a: a.map(({ document }) => document.metrics.prompt_tokens?.mean ?? null),
          b: b.map(({ document }) => document.metrics.prompt_tokens?.mean ?? null),
          kind: 'ratio',
          tolerance: 0.01,
          explains: sameWork,
        },
        {
          name: 'tokens an answer',
          a: a.map(({ document }) => document.metrics.completion_tokens?.mean ?? null),
          b: b.map(({ document }) => document.metrics.completion_tokens?.mean ?? null),
          kind: 'ratio',
          tolerance: 0.01,
          explains: sameLength,
        },
        {
          name: 'length of the window, s',
          a: a.map(({ document }) => document.window.measure_s),
          b: b.map(({ document }) => document.window.measure_s),
          kind: 'ratio',
          tolerance: 0.1,
          explains: null,
        },
      ],
      (value, kind) => (kind === 'share' ? formatPercent(value) : formatPlain(value, 4)),
    ),
  ]
}

function seedsOf(runs: readonly ArmRun[]): string {
  return [...new Set(runs.map(({ manifest }) => manifest.seed))].sort().join('\n')
}

function hitRate({ document, manifest }: ArmRun): number | null {
  const scraped = manifest.server?.['prefix_hit_rate']
  return document.cache?.hit_rate ?? (typeof scraped === 'number' ? scraped : null)
}

function factsOf(run: ArmRun, sameSeeds: boolean): RunFacts {
  const { document, manifest } = run
  const facts: Record<string, string | null> = {
    model: document.target.model,
    server: document.target.embedded ? 'the embedded engine' : document.target.url,
    engine: document.target.engine,
    'engine KV tokens': document.target.kv_tokens === null ? null : String(document.target.kv_tokens),
    api: document.target.api,
    plimsoll: manifest.versions.plimsoll,
    node: manifest.versions.node,
    workload: document.workload,
    // The points of a sweep are told apart by their load, and matched by it.
    load: run.load === null ? document.load.text : 'of the sweep',
    ...(sameSeeds ? { 'requests asked': digestOf(run) } : {}),
  }
  for (const [key, value] of Object.entries(tagsOf(manifest.config))) {
    if (!pairingTags.has(key)) facts[`tag ${key}`] = value
  }
  for (const [key, value] of Object.entries(manifest.config)) {
    if (!notCompared.has(key)) facts[`config ${key}`] = JSON.stringify(value)
  }
  for (const [key, value] of Object.entries(engineSettings(manifest.config['target'])))
    facts[`engine ${key}`] = value
  return facts
}

/** The plan's digest is over the seed too: runs of different seeds ask different things, and are meant to. */
function digestOf({ manifest }: ArmRun): string | null {
  const digest = manifest.workload?.['digest']
  return typeof digest === 'string' ? `seed ${manifest.seed}, digest ${digest.slice(0, 8)}` : null
}

function engineSettings(target: Json | undefined): Readonly<Record<string, string>> {
  if (typeof target !== 'object' || target === null || !('settings' in target)) return {}
  const { settings } = target
  if (typeof settings !== 'object' || settings === null) return {}
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      `--${key}`,
      value === true ? 'on' : JSON.stringify(value),
    ]),
  )
}
