import { defaultEngineConfig } from '../simulate/engine/engine-config.ts'
import type { EngineSettings } from '../simulate/calibrate/step-coefficients.ts'

/** Settings of an engine that is to be fitted, by vLLM's defaults where nothing is said. `poolTokens` null: not known. */
export function engineSettingsOf(
  said: { readonly maxNumSeqs: number | null; readonly maxNumBatchedTokens: number | null },
  poolTokens: number | null,
): EngineSettings {
  const { stepTime: _, frontEndMs: __, ...defaults } = defaultEngineConfig
  return {
    ...defaults,
    // Prompts of load tests carry a salt: nothing of them is in the cache.
    enablePrefixCaching: false,
    maxNumSeqs: said.maxNumSeqs ?? defaults.maxNumSeqs,
    maxNumBatchedTokens: said.maxNumBatchedTokens ?? defaults.maxNumBatchedTokens,
    numGpuBlocks:
      poolTokens === null ? defaults.numGpuBlocks : 1 + Math.floor(poolTokens / defaults.blockSize),
  }
}
