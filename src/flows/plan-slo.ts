import type { DeployInput } from './plan-deploy.ts'

/** Prometheus rules of the sweep's objective with their tests, by file name. */
export function sloDeployFiles(_input: DeployInput): Promise<readonly (readonly [string, string])[]> {
  return Promise.resolve([])
}
