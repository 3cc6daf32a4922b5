import { isDeepStrictEqual } from 'node:util'
import { defaultRules } from '../judge/compare-metric.ts'
import type { RunManifest } from '../measure/record/manifest.ts'
import type { ArmRun } from './compare-arms.ts'
import { defaultMetrics } from './compare-figures.ts'
import type { CompareSettings } from './compare.ts'
import { pacerFlags } from './options/pacer-flags.ts'
import { percent, repeatFlags } from './options/repeat-flags.ts'
import type { RunConfig } from './options/run-config.ts'

/**
 * The words after `compare` that make such runs of two servers, without how many; from what a run stored, which holds no secret. Null
 * where no flags can say it.
 */
export function againOfServers(
  urls: readonly [string, string],
  manifest: RunManifest,
  settings: CompareSettings,
): readonly string[] | null {
  const asked = askedOf(manifest)
  const load = manifest.pacer === null ? null : pacerFlags(manifest.pacer, workloadOf(manifest))
  if (asked === null || load === null) return null
  return ['--run', ...urls, ...load, ...asked.asked, ...asked.ends, ...settingFlags(settings)]
}

/**
 * The same of runs that were there: a word in capitals stands for what they do not tell. An address that both arms have is that of B
 * now, whatever answered there while A was measured. Null where no address is known.
 */
export function againOfRuns(
  a: readonly ArmRun[],
  b: readonly ArmRun[],
  settings: CompareSettings,
): readonly string[] | null {
  const [urlA, urlB] = [addressOf(a), addressOf(b)]
  const words = loadWords([...a, ...b])
  if (words === null) return null
  return [
    '--run',
    urlA === null || urlA === urlB ? 'URL_A' : urlA,
    urlB ?? 'URL_B',
    ...words,
    ...settingFlags(settings),
  ]
}

/** The words after `compare` that make a pilot of three pairs on the server of these runs. */
export function pilotAgain(runs: readonly ArmRun[], settings: CompareSettings): readonly string[] {
  const url = addressOf(runs) ?? 'URL'
  return ['--run', url, url, ...(loadWords(runs) ?? []), ...settingFlags(settings), '--runs', '3']
}

/** What was asked of the first that has a server; null where none has. */
function loadWords(runs: readonly ArmRun[]): readonly string[] | null {
  const known = runs.find((run) => addressOf([run]) !== null)
  if (known === undefined) return null
  const { manifest } = known
  const isOneLoad = runs.every((run) => isDeepStrictEqual(run.manifest.pacer, manifest.pacer))
  const load = isOneLoad && manifest.pacer !== null ? pacerFlags(manifest.pacer, workloadOf(manifest)) : null
  const asked = askedOf(manifest)
  return [...(load ?? ['--request-rate', 'RATE']), ...(asked?.asked ?? []), ...(asked?.ends ?? [])]
}

function addressOf([run]: readonly ArmRun[]): string | null {
  const target = run?.document.target
  return target === undefined || target.embedded || target.url === 'unknown' ? null : target.url
}

function askedOf({ config }: RunManifest): ReturnType<typeof repeatFlags> {
  return repeatFlags(config as unknown as Partial<RunConfig>)
}

function workloadOf({ config }: RunManifest): string {
  return (config as unknown as Partial<RunConfig>).workload?.kind ?? ''
}

/** How it is judged, where that is not the usual. */
function settingFlags({ alpha, margin, power, primary, metrics }: CompareSettings): readonly string[] {
  return [
    ...(alpha === defaultRules.alpha ? [] : ['--confidence', percent('confidence', 1 - alpha)]),
    ...(margin === defaultRules.margin ? [] : ['--margin', percent('margin', margin)]),
    ...(power === defaultRules.power ? [] : ['--power', percent('power', power)]),
    ...(primary === null ? [] : ['--primary', primary]),
    ...(metrics.join() === defaultMetrics.join() ? [] : ['--metrics', metrics.join()]),
  ]
}
