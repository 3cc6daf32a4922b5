import { engineFlags } from '../flags/engine-flags.ts'
import type { Verb } from '../verb.ts'

export const engineVerb: Verb = {
  brief: 'The simulated server',
  description:
    'Serves an OpenAI-compatible API with the scheduler of vLLM V1 (or SGLang’s, or static batches) and a model of its step times: /v1/chat/completions, /v1/completions, /v1/models, /tokenize, /health and /metrics. Ends with Ctrl-C.',
  examples: [
    ['plimsoll engine', 'at http://127.0.0.1:8000'],
    [
      "plimsoll engine --port 0 --fault 'stall 3s at 10s' --truth t.ndjson",
      'with a stall, and a record of what happened',
    ],
    [
      'plimsoll engine --speculative 3 --accept 0.8,0.6,0.4',
      'several tokens an event, as with a draft model',
    ],
  ],
  flags: engineFlags,
  run: (invocation) => invocation.cli.flows.engine(invocation),
}
