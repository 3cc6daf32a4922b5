import type {
  ExportConfig,
  ExportDeps,
  ExportOutcome,
  FlowDeps,
  RunOutcome,
  ShowOutcome,
  SweepOutcome,
} from '../flows/flow-deps.ts'
import type { PlanConfig } from '../flows/plan-config.ts'
import type { PlanOutcome } from '../flows/plan.ts'
import type { RunConfig, SweepConfig } from '../flows/options/run-config.ts'
import type { WatchConfig, WatchDeps, WatchOutcome } from '../flows/watch.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Invocation } from './verb.ts'

/** What the verbs call. */
export interface Flows {
  readonly runFlow: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>
  readonly sweepFlow: (config: SweepConfig, deps: FlowDeps) => Promise<SweepOutcome>
  readonly showFlow: (paths: readonly string[], deps: FlowDeps) => Promise<ShowOutcome>
  readonly exportFlow: (config: ExportConfig, deps: ExportDeps) => Promise<ExportOutcome>
  readonly planFlow: (config: PlanConfig, deps: FlowDeps) => Promise<PlanOutcome>
  readonly watchFlow: (config: WatchConfig, deps: WatchDeps) => Promise<WatchOutcome>
  readonly engine: (invocation: Invocation) => Promise<ExitCode>
}

/** Each flow, loaded when it is first called: `--help` must not wait for what it does not use. */
export const lazyFlows: Flows = {
  runFlow: async (config, deps) => (await import('../flows/run.ts')).runFlow(config, deps),
  sweepFlow: async (config, deps) => (await import('../flows/sweep.ts')).sweepFlow(config, deps),
  showFlow: async (paths, deps) => (await import('../flows/show.ts')).showFlow(paths, deps),
  exportFlow: async (config, deps) => (await import('../flows/export.ts')).exportFlow(config, deps),
  planFlow: async (config, deps) => (await import('../flows/plan.ts')).planFlow(config, deps),
  watchFlow: async (config, deps) => (await import('../flows/watch.ts')).watchFlow(config, deps),
  engine: async (invocation) => (await import('./verbs/engine.ts')).runEngineVerb(invocation),
}
