/**
 * Every warning that an analysis can attach to its result. Closed, so that texts, docs and tests can be checked for each.
 * The thirteen traps of the statistics come first, then what a run, a sweep or an import may notice.
 */
export type WarningKind =
  | 'coordinated_omission'
  | 'closed_loop_overload'
  | 'few_samples'
  | 'averaged_percentiles'
  | 'mix_shift'
  | 'not_steady'
  | 'saturated'
  | 'messages_not_tokens'
  | 'length_confounded'
  | 'survivors_only'
  | 'proxy_buffering'
  | 'pseudo_replication'
  | 'prefix_cache'
  | 'little_violated'
  | 'weightings_differ'
  | 'token_count_disagrees'
  | 'tokens_not_from_server'
  | 'lengths_not_as_asked'
  | 'rate_not_reached'
  | 'closed_loop_cannot_show_overload'
  | 'client_bound'
  | 'same_machine'
  | 'one_replica_pinned'
  | 'keep_alive_broken'
  | 'not_streamed'
  | 'plaintext_key'
  | 'tls_not_verified'
  | 'non_monotone_sweep'
  | 'wall_not_reached'
  | 'wall_indicative'
  | 'kv_pool_unknown'
  | 'not_confirmed'
  | 'stopped_early'
  | 'interrupted'
  | 'metrics_frozen'
  | 'metrics_unavailable'
  | 'file_truncated'
  | 'number_disagrees'
  | 'unrecoverable'
  | 'bucket_error'
  | 'timeouts_piled'
  | 'stutter'
  | 'preflight_failures'
  | 'answer_endless'
  | 'embedded_engine'
  | 'same_run'

/** A finding that does not stop an analysis: printed as a footnote, carried in every JSON document. */
export interface Warning {
  readonly kind: WarningKind
  /** The evidence in a sentence, with its numbers: "5.0 % of 3,600 requests were refused". */
  readonly message: string
  /** The likely cause, or null where the evidence says nothing about it. */
  readonly cause: string | null
  /** The next flag or command to try, or null. */
  readonly next: string | null
  /** The numbers behind the message, for machines. */
  readonly evidence: Readonly<Record<string, number | string | boolean | null>>
}
