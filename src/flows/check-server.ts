import type { FlowDeps } from './flow-deps.ts'
import { openTarget } from './live-target.ts'
import type { RunConfig } from './options/run-config.ts'
import { readAsked } from './request-templates.ts'

/**
 * The preflight of a run, and no more: for who is to be loaded only later.
 * @throws PlimsollError why it cannot be loaded.
 */
export async function checkServer(config: RunConfig, deps: FlowDeps): Promise<void> {
  const target = await openTarget(config, deps, await readAsked(config, deps))
  await target.close()
}
