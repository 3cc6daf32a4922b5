import type {
  ExportConfig,
  ExportDeps,
  ExportOutcome,
  FlowDeps,
  RunOutcome,
  ShowOutcome,
  SweepOutcome,
} from '../flows/flow-deps.ts'
import type { ExperimentConfig, ExperimentOutcome } from '../flows/experiment.ts'
import type { FindOutcome } from '../flows/find.ts'
import type { ImportConfig } from '../flows/import.ts'
import type { FindConfig, RunConfig, SweepConfig } from '../flows/options/run-config.ts'
import type { FleetDocument } from '../report/fleet-document.ts'
import type { ImportDocument } from '../report/import-document.ts'
import type { PlanConfig } from '../flows/plan-config.ts'
import type { PlanOutcome } from '../flows/plan.ts'
import type { CompareConfig, CompareOutcome } from '../flows/compare-flow.ts'
import type { ModelConfig, ModelOutcome } from '../flows/model.ts'
import type { MeasureOutcome, ModelMeasureConfig } from '../flows/model-measure.ts'
import type { SimulateConfig, SimulateOutcome } from '../flows/simulate.ts'
import type { PrefillConfig, PrefillOutcome } from '../flows/prefill.ts'
import type { WhyConfig } from '../flows/why.ts'
import type { WhyDocument } from '../report/why-document.ts'
import type { PolicyFlowConfig, PolicyOutcome } from '../flows/scale-policy-flow.ts'
import type { ServeConfig, ServeDeps } from '../flows/scale-serve.ts'
import type { SignalsConfig, SignalsOutcome } from '../flows/scale-signals.ts'
import type { WatchConfig, WatchDeps, WatchOutcome } from '../flows/watch.ts'
import type { ExitCode } from './exit-codes.ts'
import type { Invocation } from './verb.ts'

/** The parts of `plimsoll slo`. */
export type SloAction = 'budget' | 'page' | 'rules' | 'test'

/** What the verbs call. */
export interface Flows {
  readonly runFlow: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>
  readonly experimentFlow: (config: ExperimentConfig, deps: FlowDeps) => Promise<ExperimentOutcome>
  readonly sweepFlow: (config: SweepConfig, deps: FlowDeps) => Promise<SweepOutcome>
  readonly findFlow: (config: FindConfig, deps: FlowDeps) => Promise<FindOutcome>
  readonly showFlow: (paths: readonly string[], deps: FlowDeps) => Promise<ShowOutcome>
  readonly fleetFlow: (paths: readonly string[], deps: FlowDeps) => Promise<FleetDocument>
  readonly compareFlow: (config: CompareConfig, deps: FlowDeps) => Promise<CompareOutcome>
  readonly exportFlow: (config: ExportConfig, deps: ExportDeps) => Promise<ExportOutcome>
  readonly importFlow: (config: ImportConfig, deps: FlowDeps) => Promise<ImportDocument>
  readonly planFlow: (config: PlanConfig, deps: FlowDeps) => Promise<PlanOutcome>
  readonly modelFlow: (config: ModelConfig, deps: FlowDeps) => Promise<ModelOutcome>
  readonly measureModel: (config: ModelMeasureConfig, deps: FlowDeps) => Promise<MeasureOutcome>
  readonly simulateFlow: (config: SimulateConfig, deps: FlowDeps) => Promise<SimulateOutcome>
  readonly prefillFlow: (config: PrefillConfig, deps: FlowDeps) => Promise<PrefillOutcome>
  readonly whyFlow: (config: WhyConfig, deps: FlowDeps) => Promise<WhyDocument>
  readonly signalsFlow: (config: SignalsConfig, deps: FlowDeps) => Promise<SignalsOutcome>
  readonly policyFlow: (config: PolicyFlowConfig, deps: FlowDeps) => Promise<PolicyOutcome>
  readonly serveScaler: (config: ServeConfig, deps: ServeDeps) => Promise<void>
  readonly watchFlow: (config: WatchConfig, deps: WatchDeps) => Promise<WatchOutcome>
  readonly doctor: (invocation: Invocation) => Promise<ExitCode>
  readonly engine: (invocation: Invocation) => Promise<ExitCode>
  readonly slo: (action: SloAction, invocation: Invocation) => Promise<ExitCode>
}

/** Each flow, loaded when it is first called: `--help` must not wait for what it does not use. */
export const lazyFlows: Flows = {
  runFlow: async (config, deps) => (await import('../flows/run.ts')).runFlow(config, deps),
  experimentFlow: async (config, deps) => {
    const [{ experimentFlow }, { runFlow }] = await Promise.all([
      import('../flows/experiment.ts'),
      import('../flows/run.ts'),
    ])
    return experimentFlow(config, deps, runFlow)
  },
  sweepFlow: async (config, deps) => (await import('../flows/sweep.ts')).sweepFlow(config, deps),
  findFlow: async (config, deps) => (await import('../flows/find.ts')).findFlow(config, deps),
  showFlow: async (paths, deps) => (await import('../flows/show.ts')).showFlow(paths, deps),
  fleetFlow: async (paths, deps) => (await import('../flows/show-fleet.ts')).fleetFlow(paths, deps),
  compareFlow: async (config, deps) => (await import('../flows/compare-flow.ts')).compareFlow(config, deps),
  exportFlow: async (config, deps) => (await import('../flows/export.ts')).exportFlow(config, deps),
  importFlow: async (config, deps) => (await import('../flows/import.ts')).importFlow(config, deps),
  planFlow: async (config, deps) => (await import('../flows/plan.ts')).planFlow(config, deps),
  modelFlow: async (config, deps) => (await import('../flows/model.ts')).modelFlow(config, deps),
  measureModel: async (config, deps) =>
    (await import('../flows/model-measure.ts')).measureModel(config, deps),
  simulateFlow: async (config, deps) => (await import('../flows/simulate.ts')).simulateFlow(config, deps),
  prefillFlow: async (config, deps) => (await import('../flows/prefill.ts')).prefillFlow(config, deps),
  whyFlow: async (config, deps) => (await import('../flows/why.ts')).whyFlow(config, deps),
  signalsFlow: async (config, deps) => (await import('../flows/scale-signals.ts')).signalsFlow(config, deps),
  policyFlow: async (config, deps) =>
    (await import('../flows/scale-policy-flow.ts')).policyFlow(config, deps),
  serveScaler: async (config, deps) => (await import('../flows/scale-serve.ts')).serveScaler(config, deps),
  watchFlow: async (config, deps) => (await import('../flows/watch.ts')).watchFlow(config, deps),
  doctor: async (invocation) => (await import('./verbs/doctor-action.ts')).runDoctor(invocation),
  engine: async (invocation) => (await import('./verbs/engine.ts')).runEngineVerb(invocation),
  slo: async (action, invocation) => (await import('./verbs/slo-actions.ts')).runSlo(action, invocation),
}
