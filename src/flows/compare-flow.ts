import type { CompareDocument, ComparePlanDocument } from '../report/compare-document.ts'
import { checkServer } from './check-server.ts'
import { compareCsv, type CsvSettings } from './compare-csv.ts'
import { compareInterleaved, type InterleavedConfig } from './compare-interleaved.ts'
import { planComparison } from './compare-pilot.ts'
import { compareRuns, type ArmPaths, type CompareSettings } from './compare.ts'
import type { FlowDeps } from './flow-deps.ts'
import { runFlow } from './run.ts'

/** What `compare` may be asked. */
export type CompareConfig =
  | {
      readonly kind: 'runs'
      readonly a: ArmPaths
      readonly b: ArmPaths
      readonly settings: CompareSettings
    }
  | { readonly kind: 'csv'; readonly path: string; readonly settings: CsvSettings }
  | ({ readonly kind: 'interleaved' } & InterleavedConfig)
  | {
      readonly kind: 'plan'
      readonly arms: readonly (readonly string[])[]
      readonly effect: number
      readonly settings: CompareSettings
    }

export type CompareOutcome =
  | {
      readonly kind: 'compared'
      readonly document: CompareDocument
      readonly interrupted: boolean
      /** Of the runs that were made; absent where none were. */
      readonly folder?: string
    }
  | { readonly kind: 'planned'; readonly document: ComparePlanDocument }

/** Compares, or plans to. */
export async function compareFlow(config: CompareConfig, deps: FlowDeps): Promise<CompareOutcome> {
  const { version } = deps
  switch (config.kind) {
    case 'plan': {
      const { arms, effect, settings } = config
      return { kind: 'planned', document: await planComparison(arms, effect, settings, version) }
    }
    case 'csv': {
      const text = await deps.files.readText(config.path)
      const document = compareCsv(text, config.path, config.settings, version)
      return { kind: 'compared', document, interrupted: false }
    }
    case 'interleaved': {
      return { kind: 'compared', ...(await compareInterleaved(config, { runFlow, checkServer }, deps)) }
    }
    default: {
      const document = await compareRuns(config, config.settings, version)
      return { kind: 'compared', document, interrupted: false }
    }
  }
}
