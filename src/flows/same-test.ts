import { PlimsollError } from '../base/errors.ts'
import { shellLine, shellWord } from '../base/shell-words.ts'
import { redact, redactUrl } from '../measure/record/redact.ts'
import type { RepeatFlags, SweepDocument } from '../report/documents.ts'
import { objectiveText } from './judged-objectives.ts'
import { repeatFlags } from './options/repeat-flags.ts'
import type { SweepConfig } from './options/run-config.ts'
import { describeWorkload } from './run-facts.ts'

/** How the same server is reached and looked at, not what is asked of it: these may be others when a sweep goes on. */
const mayDiffer: ReadonlySet<string> = new Set([
  '--key-env',
  '--header',
  '--insecure',
  '--ca',
  '--metrics-url',
  '--replica-header',
  '--kv-tokens',
])

/** What makes the points of a sweep comparable, by the flag or word for it; the text is what is printed. */
type Told = ReadonlyMap<string, string>

/** A sweep to go on with: its folder as it was typed, and what it says. */
interface Earlier {
  readonly folder: string
  readonly document: SweepDocument
}

/**
 * Refuses to put points of one test beside those of another: what is asked must be what the folder was asked; the loads may differ.
 * A pure function of the two. What the server alone can tell, its model, is checked by `checkSameModel`.
 * @param secrets Values that the folder does not hold in clear.
 * @throws PlimsollError PLIM_USAGE with each thing that differs.
 */
export function checkSameTest(
  { folder, document }: Earlier,
  config: SweepConfig,
  secrets: readonly string[],
): void {
  const before = document.repeat ?? null
  const now = redact(repeatFlags(config.run), secrets)
  // What no flag can say, and documents of versions that did not keep the flags, are compared by their words.
  const inFlags = before !== null && now !== null
  const told = new Map([
    ...placeOfSweep(document, config.axis),
    ...(inFlags ? flagsOf(before) : wordsOfSweep(document)),
  ])
  const asked = new Map([...placeOfConfig(config), ...(inFlags ? flagsOf(now) : wordsOfConfig(config))])
  const differing = [...new Set([...told.keys(), ...asked.keys()])].filter((name) => {
    // To name the model that answered before is to ask for the same.
    if (name === '--model' && !told.has(name) && config.run.model === document.target.model) return false
    return told.get(name) !== asked.get(name)
  })
  if (differing.length === 0) return
  const texts = (from: Told): string => differing.map((name) => from.get(name) ?? `no ${name}`).join('; ')
  throw new PlimsollError('PLIM_USAGE', `--resume would mix two tests: ${differing.join(', ')}`, {
    expected: `${texts(told)} (as in the folder)`,
    received: `${texts(asked)} (as asked for now)`,
    where: { file: folder },
    hint: `to go on, give what is expected beside --resume ${shellWord(folder)}: only the loads may be others; another test is a sweep of its own, without --resume`,
  })
}

/** @throws PlimsollError PLIM_USAGE where the server has another model by now, before any load is sent. */
export function checkSameModel({ folder, document }: Earlier, model: string): void {
  const before = document.target.model
  if (before === null || before === model) return
  throw new PlimsollError('PLIM_USAGE', '--resume would mix two tests: the server has another model', {
    expected: `--model ${shellWord(before)} (as in the folder)`,
    received: model,
    where: { file: folder },
    hint: 'name the model where the server has both; else another test is a sweep of its own, without --resume',
  })
}

function flagsOf({ asked }: RepeatFlags): Told {
  const words = new Map<string, string[]>()
  let name = ''
  for (const word of asked) {
    if (word.startsWith('--')) name = word
    if (!mayDiffer.has(name)) words.set(name, [...(words.get(name) ?? []), word])
  }
  return new Map([...words].map(([flag, said]) => [flag, shellLine(said)]))
}

/** Of a folder without points it is not known what rises, and nothing can be mixed. */
function placeOfSweep({ target, points }: SweepDocument, axis: SweepConfig['axis']): Told {
  return place(target.embedded ? null : target.url, points[0]?.load.kind ?? axis)
}

function placeOfConfig({ run, axis }: SweepConfig): Told {
  return place(run.target.kind === 'embedded' ? null : redactUrl(run.target.url), axis)
}

function place(url: string | null, axis: SweepConfig['axis']): Told {
  return new Map([
    [
      '--url',
      url === null ? 'no --url (the embedded engine)' : `--url ${shellWord(url.replace(/\/+$/, ''))}`,
    ],
    ['what rises', axis === 'rate' ? 'loads by --rates' : 'loads by --concurrency'],
  ])
}

function wordsOfSweep({ target, workload, objective }: SweepDocument): Told {
  return words(target.api, workload, objective)
}

function wordsOfConfig({ run }: SweepConfig): Told {
  const objective = run.objectives.map((one) => objectiveText(one)).join('; ')
  return words(run.api, describeWorkload(run.workload), objective)
}

/** The model is that which answers. */
function words(api: string, workload: string, objective: string | null): Told {
  return new Map([
    ['--api', `--api ${api}`],
    ['the workload', workload],
    ['--slo', objective === null || objective === '' ? 'no --slo' : `--slo ${shellWord(objective)}`],
  ])
}
