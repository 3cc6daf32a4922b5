import { PlimsollError } from '../base/errors.ts'
import type { FlowDeps } from './flow-deps.ts'

/**
 * Stores something. Where the disk refuses that is told, and the flow goes on: what was measured is in memory, and is printed.
 * @param otherwise What stands for the result then.
 */
export async function stored<T>(
  deps: Pick<FlowDeps, 'onUnsaved'>,
  store: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await store()
  } catch (error) {
    if (!(error instanceof PlimsollError && error.code === 'PLIM_RUN_FOLDER')) throw error
    deps.onUnsaved(error)
    return otherwise
  }
}
