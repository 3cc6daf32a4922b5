import { PlimsollError } from '../base/errors.ts'
import { placed } from '../base/placed.ts'
import { exactShare } from '../base/units.ts'
import { parseObjective } from '../measure/metrics/parse-objective.ts'
import { readPromSeconds } from '../operate/slo/prometheus-duration.ts'
import { refuseClashes, sloId, type SloSpec } from '../operate/slo/slo-spec.ts'
import { parseRational } from '../stats/rational.ts'
import { isOpenSlo, readOpenSlo, readOpenSloFiles } from './slo-open.ts'
import { percentOf, shared, type SloOverrides } from './slo-shared.ts'
import { parseConfigFile } from './options/read-config.ts'

/** A file and what stands in it. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** The objectives of several plimsoll.yaml or OpenSLO files. Throws PLIM_CONFIG for what cannot be, and for clashes between them. */
export function readSloSpecs(files: readonly TextFile[], overrides: SloOverrides = {}): readonly SloSpec[] {
  const open = readOpenSloFiles(files.filter(({ text }) => isOpenSlo(text)))
  const specs = [
    ...files
      .filter(({ text }) => !isOpenSlo(text))
      .flatMap(({ path, text }) => readPlimsollYaml(text, path, overrides)),
    ...readOpenSlo(open, overrides),
  ]
  if (specs.length === 0) {
    throw new PlimsollError('PLIM_CONFIG', 'no objective to watch', {
      expected: smallestObjective,
      ...(files[0] === undefined
        ? {}
        : { where: { file: files[0].path }, hint: objectivesHint(files.map(({ text }) => text)) }),
    })
  }
  refuseClashes(specs)
  return specs
}

const smallestObjective = 'objectives: chat: { each: ttft < 500ms, good: 99.5%, over: 30d }'

function objectivesHint(texts: readonly string[]): string {
  return texts.some((text) => /^#\s*objectives:/m.test(text))
    ? 'the objectives of this file are commented out: take the # away'
    : 'each section explained: plimsoll init example.yaml'
}

function readPlimsollYaml(text: string, file: string, overrides: SloOverrides): readonly SloSpec[] {
  const { config, where } = parseConfigFile(text, file, {
    what: 'objectives',
    expected: smallestObjective,
    hint: objectivesHint([text]),
  })
  const section = config.slo ?? {}
  return Object.entries(config.objectives ?? {}).map(([name, objective]): SloSpec => {
    const at = <T>(key: string, make: () => T): T => placed(() => where(['objectives', name, key]), make)
    const each = at('each', () =>
      objective.each === undefined ? null : parseObjective(objective.each, `objectives.${name}.each`),
    )
    if (each !== null && each.run.length > 0) {
      throw new PlimsollError('PLIM_CONFIG', `objectives.${name} has a limit on a percentile`, {
        expected: 'limits for each request; p99 ttft < 500ms is ttft < 500ms with good: 99%',
        where: where(['objectives', name, 'each']),
      })
    }
    const said = objective.good ?? (each?.good === null || each === null ? '99%' : each.good)
    const objectiveText = percentOf(at('good', () => exactShare(String(said), `objectives.${name}.good`)))
    const share = parseRational(objectiveText)
    if (share.num >= share.den) {
      throw new PlimsollError(
        'PLIM_CONFIG',
        `objectives.${name} leaves no budget: one bad request breaks it`,
        {
          expected: 'a share under 100%',
          where: where(['objectives', name, 'good']),
        },
      )
    }
    const period = objective.over ?? '30d'
    at('over', () => readPromSeconds(period, `objectives.${name}.over`))
    const own = section.counters?.[name] ?? null
    return {
      service: section.service ?? 'llm',
      name,
      each: each?.each ?? [],
      objective: share,
      objectiveText,
      period,
      shed: objective.shed ?? 'bad',
      engine: own === null ? (overrides.engine ?? section.engine ?? 'vllm') : 'own',
      own,
      match: { ...section.match, ...section.match_class?.[name] },
      ...shared(section, overrides, { file, where: (path) => where(['slo', ...path]) }),
    }
  })
}

/** The objectives of a name, `chat` or `service-chat`; without a name all. */
export function specsNamed(specs: readonly SloSpec[], name: string | undefined): readonly SloSpec[] {
  if (name === undefined) return specs
  const found = specs.filter((spec) => spec.name === name || sloId(spec) === name)
  if (found.length > 0) return found
  throw new PlimsollError('PLIM_USAGE', `there is no objective ${name}`, {
    expected: specs.map((spec) => spec.name).join(', '),
  })
}
