import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { redactUrl } from '../measure/record/redact.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import type { CompareDocument } from '../report/compare-document.ts'
import { goneAfter } from './answered-before.ts'
import { againOfServers } from './compare-again.ts'
import { armRun, type ArmRun } from './compare-arms.ts'
import { compareArms, type CompareSettings } from './compare.ts'
import type { FlowDeps, RunOutcome } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'
import { stored } from './stored.ts'

export interface InterleavedConfig {
  /** One a arm, alike but for their target. */
  readonly a: RunConfig
  readonly b: RunConfig
  /** Runs an arm, fixed before the first. */
  readonly runs: number
  readonly runsDir: string
  /** Exactly this folder, or null: a new one in `runsDir`. */
  readonly out: string | null
  readonly settings: CompareSettings
}

/** The order of the runs: AB BA AB BA …, so that a steady drift cancels over every two blocks. */
export function interleavedOrder(
  runs: number,
): readonly { readonly arm: 'A' | 'B'; readonly block: number }[] {
  return Array.from({ length: runs }, (_, i) => {
    const arms = i % 2 === 0 ? (['A', 'B'] as const) : (['B', 'A'] as const)
    return arms.map((arm) => ({ arm, block: i + 1 }))
  }).flat()
}

/** What it is made of: one run, and the preflight of one. */
export interface InterleavedParts {
  readonly runFlow: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>
  readonly checkServer: (config: RunConfig, deps: FlowDeps) => Promise<void>
}

/**
 * Runs the interleaved design and compares it: in each block the same seed in both arms, so the same prompts, lengths and arrivals;
 * a fresh salt in every run, so that no run finds the prefixes of another in a cache. All runs are made whatever the first ones say:
 * looking early finds differences that are not there.
 * Both servers are asked before the first run: what is wrong with B is then not said after a run of A. The runs are compared as they are
 * in memory, whatever of them the disk took.
 * @throws PlimsollError of a run that cannot be made, or PLIM_STOPPED after an interruption before each arm has a run.
 */
export async function compareInterleaved(
  config: InterleavedConfig,
  { runFlow, checkServer }: InterleavedParts,
  deps: FlowDeps,
): Promise<{ readonly document: CompareDocument; readonly folder: string; readonly interrupted: boolean }> {
  const folder = config.out ?? join(config.runsDir, runFolderName(new Date(deps.wallClock()), 'compare'))
  const blocks = new Map<number, Partial<Record<'A' | 'B', ArmRun>>>()
  const order = interleavedOrder(config.runs)
  let interrupted = false
  let last = folder
  for (const side of [config.a, config.b]) await checkServer(side, deps)
  for (const [index, { arm, block }] of order.entries()) {
    const base = arm === 'A' ? config.a : config.b
    const name = `${String(index + 1).padStart(2, '0')}-${arm.toLowerCase()}`
    deps.onNotice(`run ${index + 1} of ${order.length}: ${arm} (block ${block})`)
    const path = join(folder, name)
    const measure = (): Promise<RunOutcome> =>
      runFlow(
        {
          ...base,
          seed: block === 1 ? base.seed : `${base.seed}-${block}`,
          salt: base.warmPrefix ? base.salt : null,
          name,
          out: path,
          metadata: { ...base.metadata, arm, block: String(block) },
        },
        // Asked once: the first plan is every plan.
        index === 0 ? deps : { ...deps, confirm: () => Promise.resolve(true) },
      )
    const outcome =
      index === 0
        ? await measure()
        : await stored(deps, measure, null).catch((error: unknown) => {
            const done = `${index} of ${order.length} runs`
            throw goneAfter(error, { done, folder, shown: last, goOn: null })
          })
    // A further run could not be written: what is whole is compared.
    if (outcome === null) break
    last = path
    if (outcome.interrupted) {
      interrupted = true
      break
    }
    if (outcome.measured !== undefined)
      blocks.set(block, {
        ...blocks.get(block),
        [arm]: armRun(path, outcome.document, outcome.measured),
      })
  }
  // A block that was cut has no pair; its run stays in the folder.
  const whole = [...blocks.values()].flatMap(({ A, B }) =>
    A === undefined || B === undefined ? [] : [{ A, B }],
  )
  const [first] = whole
  if (first === undefined) {
    throw new PlimsollError('PLIM_STOPPED', 'ended before each arm had a run', {
      hint: `what was measured is in ${folder}`,
    })
  }
  const document = compareArms(
    {
      a: { name: nameOf(config.a), runs: whole.map(({ A }) => A) },
      b: { name: nameOf(config.b), runs: whole.map(({ B }) => B) },
    },
    config.settings,
    deps.version,
    'interleaved',
  )
  return {
    document: { ...document, again: againFlags(config, first.A) },
    folder,
    interrupted,
  }
}

/** From what a run kept, which holds no secret. */
function againFlags({ a, b, settings }: InterleavedConfig, { manifest }: ArmRun): readonly string[] | null {
  return againOfServers([addressOf(a) ?? '', addressOf(b) ?? ''], manifest, settings)
}

function nameOf(config: RunConfig): string {
  return addressOf(config) ?? 'the embedded engine'
}

/** Without a password, which would stand in the document. */
function addressOf({ target }: RunConfig): string | null {
  return target.kind === 'server' ? redactUrl(target.url) : null
}
