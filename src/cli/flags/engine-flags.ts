import { engineSettingTable } from '../../simulate/engine/server/engine-setting-table.ts'
import type { FlagSpecs } from '../verb.ts'

/** Flags of `plimsoll engine`; `run` and `sweep` take the same as `--engine-…`. */
export const engineFlags: FlagSpecs = {
  ...Object.fromEntries(
    Object.entries(engineSettingTable).map(([name, { form: _form, ...spec }]) => [name, spec]),
  ),
  json: { kind: 'switch', group: 'Where', brief: 'One JSON line with the address instead of words' },
  config: {
    kind: 'text',
    group: 'What goes wrong',
    brief: 'File with settings and faults',
    placeholder: 'FILE',
  },
}
