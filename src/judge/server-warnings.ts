import { noun } from '../base/noun.ts'
import type { Warning } from '../base/warnings.ts'
import type { RunWindow } from '../measure/metrics/run-window.ts'
import { byName, samplesInside } from '../measure/metrics/server-use.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { ServerSample } from '../measure/record/server-samples.ts'

/** Looks that must all say the same before a page is called frozen. */
const looksToFreeze = 4
/** More looks than this share that fail leave holes worth a word. */
const failuresShare = 0.05

/** What the server's metrics show of themselves: pages that stood still while requests were answered, and pages that were gone. */
export function serverWarnings(
  samples: readonly ServerSample[],
  window: RunWindow,
  rows: Rows,
): readonly Warning[] {
  const inside = samplesInside(samples, window)
  const answers = rows.filter((row) => row.ok && row.planned_ms !== null && endsInside(row, window)).length
  return [frozen(inside, answers), unavailable(inside)].filter((found) => found !== null)
}

function endsInside(row: RequestRow, { startMs, endMs }: RunWindow): boolean {
  const end = (row.planned_ms ?? 0) + (row.done_ms ?? 0)
  return end >= startMs && end < endMs
}

/** Every figure of a page that was read several times is what it was, although answers came. One replica of several may well be idle. */
function frozen(inside: readonly ServerSample[], answers: number): Warning | null {
  if (answers === 0) return null
  const replicas = [...byName(inside)].map(([name, looks]) => ({ name, looks: looks.filter(({ up }) => up) }))
  if (replicas.length === 0) return null
  const still = replicas.filter(
    ({ looks }) => looks.length >= looksToFreeze && looks.every((look) => same(look, looks[0]!)),
  )
  if (still.length < replicas.length) return null
  const looks = still.reduce((sum, each) => sum + each.looks.length, 0)
  return {
    kind: 'metrics_frozen',
    message: `the server's metrics said the same at all ${looks} ${noun(looks, 'look')} while ${answers} ${noun(answers, 'request was', 'requests were')} answered`,
    cause: 'the page is cached, or of another server than the one that is loaded',
    next: '--metrics-url of the engine itself',
    evidence: { looks, answers, replicas: still.map(({ name }) => name).join(', ') },
  }
}

const figures = [
  'running',
  'waiting',
  'kv_usage',
  'preemptions',
  'prompt_tokens',
  'generation_tokens',
  'prefix_hits',
  'prefix_queries',
  'requests',
] as const

function same(look: ServerSample, first: ServerSample): boolean {
  // The first look has no count of requests since the one before.
  return figures.every(
    (name) => look[name] === first[name] || (name === 'requests' && (look[name] ?? 0) === 0),
  )
}

function unavailable(inside: readonly ServerSample[]): Warning | null {
  const failed = inside.filter(({ up }) => !up)
  if (inside.length === 0 || failed.length <= failuresShare * inside.length) return null
  const names = [...new Set(failed.map(({ replica }) => replica))]
  return {
    kind: 'metrics_unavailable',
    message: `${failed.length} of ${inside.length} ${noun(inside.length, 'look')} at the server's metrics found none`,
    cause: 'the page did not answer within its time, or was no longer that of an engine',
    next: null,
    evidence: { failed: failed.length, looks: inside.length, replicas: names.join(', ') },
  }
}
