import type { RunConfig } from '../../flows/options/run-config.ts'
import { unknownSetting } from '../argv.ts'

/** Refuses a setting that the engine does not have, from wherever it came, before anything is started. */
export async function checkEngineSettings({ target }: RunConfig): Promise<void> {
  if (target.kind !== 'embedded' || Object.keys(target.settings).length === 0) return
  const { engineFlags } = await import('./engine-flags.ts')
  for (const [name, value] of Object.entries(target.settings)) {
    const positive = value === true && name.startsWith('no-') ? name.slice(3) : name
    if (engineFlags[positive] === undefined) throw unknownSetting(name, engineFlags)
  }
}
