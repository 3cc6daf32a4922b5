import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { readManifest } from '../measure/record/read-run.ts'
import { redactUrl } from '../measure/record/redact.ts'
import { runFiles, runFolderName } from '../measure/record/run-folder.ts'
import type { CompareDocument } from '../report/compare-document.ts'
import { againOfServers } from './compare-again.ts'
import { compareRuns, type CompareSettings } from './compare.ts'
import type { FlowDeps, RunOutcome } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'

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

/**
 * Runs the interleaved design and compares it: in each block the same seed in both arms, so the same prompts, lengths and arrivals;
 * a fresh salt in every run, so that no run finds the prefixes of another in a cache. All runs are made whatever the first ones say:
 * looking early finds differences that are not there.
 * @throws PlimsollError of a run that cannot be made, or PLIM_STOPPED after an interruption before each arm has a run.
 */
export async function compareInterleaved(
  config: InterleavedConfig,
  runFlow: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>,
  deps: FlowDeps,
): Promise<{ readonly document: CompareDocument; readonly folder: string; readonly interrupted: boolean }> {
  const folder = config.out ?? join(config.runsDir, runFolderName(new Date(deps.wallClock()), 'compare'))
  const blocks = new Map<number, Partial<Record<'A' | 'B', string>>>()
  const order = interleavedOrder(config.runs)
  let interrupted = false
  for (const [index, { arm, block }] of order.entries()) {
    const base = arm === 'A' ? config.a : config.b
    const name = `${String(index + 1).padStart(2, '0')}-${arm.toLowerCase()}`
    deps.onNotice(`run ${index + 1} of ${order.length}: ${arm} (block ${block})`)
    const path = join(folder, name)
    const outcome = await runFlow(
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
    if (outcome.interrupted) {
      interrupted = true
      break
    }
    blocks.set(block, { ...blocks.get(block), [arm]: path })
  }
  // A block that was cut has no pair; its run stays in the folder.
  const whole = [...blocks.values()].filter(({ A, B }) => A !== undefined && B !== undefined)
  if (whole.length === 0) {
    throw new PlimsollError('PLIM_STOPPED', 'ended before each arm had a run', {
      hint: `what was measured is in ${folder}`,
    })
  }
  const document = await compareRuns(
    {
      a: { name: nameOf(config.a), paths: whole.map(({ A }) => A ?? '') },
      b: { name: nameOf(config.b), paths: whole.map(({ B }) => B ?? '') },
    },
    config.settings,
    deps.version,
    'interleaved',
  )
  return {
    document: { ...document, again: await againFlags(config, whole[0]?.A ?? '') },
    folder,
    interrupted,
  }
}

/** From what a run stored, which holds no secret. */
async function againFlags(
  { a, b, settings }: InterleavedConfig,
  path: string,
): Promise<readonly string[] | null> {
  const manifest = await readManifest(join(path, runFiles.manifest))
  return againOfServers([addressOf(a) ?? '', addressOf(b) ?? ''], manifest, settings)
}

function nameOf(config: RunConfig): string {
  return addressOf(config) ?? 'the embedded engine'
}

/** Without a password, which would stand in the document. */
function addressOf({ target }: RunConfig): string | null {
  return target.kind === 'server' ? redactUrl(target.url) : null
}
