import type { FlagSpec, FlagSpecs } from '../verb.ts'

const kept = 'every run is kept in full in its run folder'

function ignored(word: string, kind: FlagSpec['kind'] = 'switch', manyValues = false): FlagSpec {
  return {
    kind,
    group: 'vLLM',
    brief: word,
    ignored: word,
    hidden: true,
    ...(manyValues ? { manyValues: true } : {}),
  }
}

/** Flags of `vllm bench serve` that need nothing here. Each is accepted, with a word on stderr. */
export const vllmFlags: FlagSpecs = {
  'save-result': ignored(kept),
  'save-detailed': ignored(kept),
  'append-result': ignored(kept),
  'result-filename': ignored(`${kept}; plimsoll export RUN --format vllm writes vLLM's file`, 'text'),
  'percentile-metrics': ignored('every metric is summarised', 'text'),
  'disable-tqdm': ignored('--no-progress turns progress off'),
  'trust-remote-code': ignored('no code of a model is loaded'),
  'tokenizer-mode': ignored('the server counts tokens', 'text'),
  'num-warmups': ignored(
    'a probe is sent and the client warms itself; --warmup TIME warms the server',
    'text',
  ),
  'warmup-request-count': ignored(
    'a probe is sent and the client warms itself; --warmup TIME warms the server',
    'text',
  ),
  'warmup-requests': ignored(
    'a probe is sent and the client warms itself; --warmup TIME warms the server',
    'text',
  ),
  'output-details': ignored(kept),
  'export-level': ignored(kept, 'text'),
  'ready-check-timeout-sec': ignored('the server is probed once before the run', 'text'),
  'plot-timeline': ignored('no plot is drawn by a run'),
  'plot-dataset-stats': ignored('no plot is drawn by a run'),
}
