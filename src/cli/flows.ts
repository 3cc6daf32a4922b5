import type {
  ExportConfig,
  ExportDeps,
  ExportOutcome,
  FlowDeps,
  RunOutcome,
  ShowOutcome,
  SweepOutcome,
} from '../flows/flow-deps.ts'
import type { RunConfig, SweepConfig } from '../flows/options/run-config.ts'
import type { ModelConfig, ModelOutcome } from '../flows/model.ts'
import type { SimulateConfig, SimulateOutcome } from '../flows/simulate.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Invocation } from './verb.ts'

/** What the verbs call. */
export interface Flows {
  readonly runFlow: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>
  readonly sweepFlow: (config: SweepConfig, deps: FlowDeps) => Promise<SweepOutcome>
  readonly showFlow: (paths: readonly string[], deps: FlowDeps) => Promise<ShowOutcome>
  readonly exportFlow: (config: ExportConfig, deps: ExportDeps) => Promise<ExportOutcome>
  readonly modelFlow: (config: ModelConfig, deps: FlowDeps) => Promise<ModelOutcome>
  readonly simulateFlow: (config: SimulateConfig, deps: FlowDeps) => Promise<SimulateOutcome>
  readonly engine: (invocation: Invocation) => Promise<ExitCode>
}

/** Each flow, loaded when it is first called: `--help` must not wait for what it does not use. */
export const lazyFlows: Flows = {
  runFlow: async (config, deps) => (await import('../flows/run.ts')).runFlow(config, deps),
  sweepFlow: async (config, deps) => (await import('../flows/sweep.ts')).sweepFlow(config, deps),
  showFlow: async (paths, deps) => (await import('../flows/show.ts')).showFlow(paths, deps),
  exportFlow: async (config, deps) => (await import('../flows/export.ts')).exportFlow(config, deps),
  modelFlow: async (config, deps) => (await import('../flows/model.ts')).modelFlow(config, deps),
  simulateFlow: async (config, deps) => (await import('../flows/simulate.ts')).simulateFlow(config, deps),
  engine: async (invocation) => (await import('./verbs/engine.ts')).runEngineVerb(invocation),
}
