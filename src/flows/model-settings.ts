import { defaultEngineConfig, type EngineConfig } from '../simulate/engine/engine-config.ts'
import type { EngineSettings } from '../simulate/calibrate/step-coefficients.ts'

/** What of a configuration a fit takes as known: a plain vLLM's seats, budget and pool, without the times. */
export function knownSettings(config: EngineConfig): EngineSettings {
  const {
    stepTime: _step,
    frontEndMs: _front,
    policy: _policy,
    speculative: _drafts,
    asyncScheduling: _async,
    mixedChunk: _mixed,
    hostMs: _host,
    ...settings
  } = config
  // Prompts of load tests carry a salt: nothing of them is in the cache. Scatter is no coefficient.
  return { ...settings, enablePrefixCaching: false, jitterSigma: 0 }
}

/** Settings of an engine that is to be fitted, by vLLM's defaults where nothing is said. `poolTokens` null: not known. */
export function engineSettingsOf(
  said: { readonly maxNumSeqs: number | null; readonly maxNumBatchedTokens: number | null },
  poolTokens: number | null,
): EngineSettings {
  const defaults = knownSettings(defaultEngineConfig)
  return {
    ...defaults,
    maxNumSeqs: said.maxNumSeqs ?? defaults.maxNumSeqs,
    maxNumBatchedTokens: said.maxNumBatchedTokens ?? defaults.maxNumBatchedTokens,
    numGpuBlocks:
      poolTokens === null ? defaults.numGpuBlocks : 1 + Math.floor(poolTokens / defaults.blockSize),
  }
}
