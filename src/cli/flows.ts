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
import type { PolicyFlowConfig, PolicyOutcome } from '../flows/scale-policy-flow.ts'
import type { ServeConfig, ServeDeps } from '../flows/scale-serve.ts'
import type { SignalsConfig, SignalsOutcome } from '../flows/scale-signals.ts'
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
  readonly signalsFlow: (config: SignalsConfig, deps: FlowDeps) => Promise<SignalsOutcome>
  readonly policyFlow: (config: PolicyFlowConfig, deps: FlowDeps) => Promise<PolicyOutcome>
  readonly serveScaler: (config: ServeConfig, deps: ServeDeps) => Promise<void>
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
  signalsFlow: async (config, deps) => (await import('../flows/scale-signals.ts')).signalsFlow(config, deps),
  policyFlow: async (config, deps) =>
    (await import('../flows/scale-policy-flow.ts')).policyFlow(config, deps),
  serveScaler: async (config, deps) => (await import('../flows/scale-serve.ts')).serveScaler(config, deps),
  watchFlow: async (config, deps) => (await import('../flows/watch.ts')).watchFlow(config, deps),
  engine: async (invocation) => (await import('./verbs/engine.ts')).runEngineVerb(invocation),
}
