import { redact, redactUrl } from '../measure/record/redact.ts'
import type { RepeatFlags, TargetFacts } from '../report/documents.ts'
import type { LiveTarget } from './live-target.ts'
import { repeatFlags } from './options/repeat-flags.ts'
import type { RunConfig } from './options/run-config.ts'
import { describeWorkload, targetFacts } from './run-facts.ts'

/** What a document of several runs on one server says of what was asked of it, without its secrets. */
export interface AskedFacts {
  readonly seed: string
  readonly tags: Readonly<Record<string, string>>
  readonly target: TargetFacts
  readonly workload: string
  readonly repeat: RepeatFlags | null
}

export function askedFacts(run: RunConfig, target: LiveTarget): AskedFacts {
  return {
    seed: run.seed,
    tags: run.metadata,
    target: targetFacts(
      { url: redactUrl(target.typedUrl), api: run.api, model: target.model },
      target.server,
      null,
    ),
    workload: describeWorkload(run.workload),
    repeat: redact(repeatFlags(run), target.secrets),
  }
}
