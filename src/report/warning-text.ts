import type { Warning, WarningKind } from '../base/warnings.ts'
import { printable } from './printable.ts'

/** Where in a report the mark of a warning stands. */
export type Anchor =
  | 'headline'
  | 'load'
  | 'ttft'
  | 'tpot'
  | 'gaps'
  | 'weighting'
  | 'counts'
  | 'goodput'
  | 'little'
  | 'instrument'
  | 'server'

/** What is said of a warning where the warning itself does not: why it matters, and what to try. */
interface WarningText {
  readonly anchor: Anchor
  readonly why: string
  readonly next: string | null
}

const text = (anchor: Anchor, why: string, next: string | null = null): WarningText => ({ anchor, why, next })

/** One entry for every kind: a warning that nobody could explain would not be one. */
export const warningTexts: Readonly<Record<WarningKind, WarningText>> = {
  coordinated_omission: text(
    'instrument',
    'latencies from the actual send leave out the wait before it',
    'read the figures from the intended send',
  ),
  closed_loop_overload: text(
    'load',
    'a closed loop slows down with its server, so the wait of real users is not seen',
    '--request-rate',
  ),
  few_samples: text('headline', 'a tail percentile of few requests is mostly chance', '--duration'),
  averaged_percentiles: text(
    'headline',
    'percentiles cannot be averaged; only pooled requests have one',
    null,
  ),
  mix_shift: text('headline', 'the mix of requests changed, so totals compare different work', null),
  not_steady: text(
    'headline',
    'the figures drifted during the window, so they depend on its length',
    '--warmup auto',
  ),
  saturated: text(
    'headline',
    'more arrives than is finished: the wait grows with the length of the run',
    'a lower --request-rate',
  ),
  messages_not_tokens: text(
    'gaps',
    'the server packs several tokens into an event, so gaps are not token times',
    'read TPOT',
  ),
  length_confounded: text(
    'headline',
    'longer answers take longer; end-to-end times compare lengths too',
    'compare TPOT and TTFT',
  ),
  survivors_only: text(
    'ttft',
    'percentiles over successes leave out those who were turned away',
    'read the column of all attempts',
  ),
  proxy_buffering: text(
    'gaps',
    'something on the way holds events back and sends them together',
    'ask the server without the proxy',
  ),
  pseudo_replication: text('headline', 'requests of one run are not independent runs', 'repeat the run'),
  prefix_cache: text(
    'load',
    'prompts that were seen before skip their prefill',
    'a fresh --salt, or --warm-prefix if it is meant',
  ),
  little_violated: text('little', 'arrivals, times and requests in flight do not belong together', null),
  weightings_differ: text('weighting', 'long and short answers run at different speeds here', null),
  token_count_disagrees: text('tpot', 'two counts of the same tokens differ', null),
  tokens_not_from_server: text('tpot', 'the server did not say how many tokens it made', '--tokenizer'),
  lengths_not_as_asked: text(
    'load',
    'prompts or answers are not of the length that was asked',
    '--ignore-eos',
  ),
  rate_not_reached: text('load', 'less was sent than planned', '--workers'),
  closed_loop_cannot_show_overload: text(
    'load',
    'users wait for their answer before they ask again, so the load falls when the server slows',
    '--request-rate',
  ),
  client_bound: text('instrument', 'the client was the slow part', '--workers, or another machine'),
  same_machine: text('instrument', 'client and server share the cores', 'run the client on another machine'),
  one_replica_pinned: text(
    'load',
    'kept-alive connections can tie the load to one replica',
    '--metrics-url for each replica',
  ),
  keep_alive_broken: text('counts', 'the server closes connections that it promised to keep', null),
  not_streamed: text(
    'ttft',
    'whole answers came although streams were asked: there is no first token to time',
    null,
  ),
  plaintext_key: text('load', 'the key travels unencrypted', 'https'),
  tls_not_verified: text('load', 'whoever answers may not be the server', '--ca FILE instead of --insecure'),
  non_monotone_sweep: text(
    'headline',
    'a heavier load passed above one that failed; only the unbroken part counts',
    'repeat the sweep',
  ),
  wall_not_reached: text('headline', 'the capacity is at least the heaviest load tried', 'heavier loads'),
  wall_indicative: text(
    'headline',
    'the estimate is within the limit, its interval is not yet',
    '--duration-per-point',
  ),
  kv_pool_unknown: text(
    'headline',
    'without the size of the KV pool there is no memory wall',
    '--kv-tokens N',
  ),
  not_confirmed: text(
    'headline',
    'a closed loop found it; real users arrive at random',
    'plimsoll run at its rate',
  ),
  stopped_early: text('headline', 'the run ended before its plan', null),
  interrupted: text('headline', 'the run was ended by hand', null),
  metrics_frozen: text('server', "the server's metrics did not change while it worked", null),
  metrics_unavailable: text('server', "the server's own metrics cannot be read", '--metrics-url'),
  file_truncated: text('counts', 'the journal ends in the middle of a line', null),
  number_disagrees: text('headline', 'a published figure is not what its own rows give', null),
  unrecoverable: text('headline', 'the source does not hold what this figure needs', null),
  bucket_error: text('headline', 'a quantile of a histogram is only as exact as its buckets', null),
  timeouts_piled: text(
    'counts',
    'many requests ended at the same limit, so the tail is the limit',
    '--timeout-…',
  ),
  stutter: text('gaps', 'streams paused for much longer than their own rhythm', null),
  preflight_failures: text('counts', 'a server that fails at rest may fail under load', null),
  answer_endless: text('headline', 'an answer that does not end has no end to time', '--timeout-total'),
  same_run: text('headline', 'a run compared with itself says nothing of two deployments', null),
  embedded_engine: text('load', 'the figures are those of a simulated server', '--url'),
}

/** The warning as a footnote: evidence, cause, and what to try. */
export function warningLine(warning: Warning): string {
  const { why, next } = warningTexts[warning.kind]
  const try_ = warning.next ?? next
  return printable(`${warning.message}: ${warning.cause ?? why}${try_ === null ? '' : ` → ${try_}`}`)
}
