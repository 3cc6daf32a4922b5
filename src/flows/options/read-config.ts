import * as v from 'valibot'
import { PlimsollError, type TextPosition } from '../../base/errors.ts'
import { quotedValue } from '../../base/expected-words.ts'
import type { ConfigFile } from './config-file-type.ts'
import { configOptions } from './config-options.ts'
import { configSchema } from './config-schema.ts'
import { readYaml, type YamlPath, type YamlSubject } from '../../base/positioned-yaml.ts'
import { schemaRefusal } from './schema-refusal.ts'
import type { SweepOptions } from './run-options.ts'

/** A plimsoll.yaml as it is written, and where each part of it stands. */
export interface PositionedConfig {
  readonly config: ConfigFile
  readonly where: (path: YamlPath) => TextPosition
}

/** What a plimsoll.yaml says, as options. Throws what `parseConfigFile` throws. */
export function readConfig(text: string, file: string): SweepOptions {
  const { config, where } = parseConfigFile(text, file)
  return configOptions(config, where)
}

const settings: YamlSubject = {
  what: 'settings',
  expected: 'target: …, workload: …, arrivals: … (plimsoll init writes one)',
  hint: 'plimsoll init example.yaml writes each of them, explained; without a file, or with {} in it, the defaults hold',
}

/**
 * What a plimsoll.yaml says. Whatever is wrong with it is a PLIM_CONFIG with file, line and column, what was expected there and
 * what stands there, and for a misspelt key the nearest right one.
 * @param subject What the file is read for, where that is not a run.
 */
export function parseConfigFile(
  text: string,
  file: string,
  subject: YamlSubject = settings,
): PositionedConfig {
  const yaml = readYaml(text, file, subject)
  const { value } = yaml
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PlimsollError('PLIM_CONFIG', 'the file is not a map of settings', {
      expected: settings.expected,
      received: quotedValue(value),
      where: yaml.where([]),
    })
  }
  const result = v.safeParse(configSchema, value, { abortEarly: false })
  if (!result.success) throw schemaRefusal(configSchema, result.issues, yaml)
  return { config: result.output, where: (path) => yaml.where(path) }
}
