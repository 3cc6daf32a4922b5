/**
 * The time that one forward step takes, as a function of what is in the batch:
 *
 *     t = c0 + c1·max(0, T − T0) + c2·Σ_decode ctx + c3·Σ_prefill n·(ctx + n/2) + c4·n_seq
 *
 * with T all tokens scheduled in the step, `ctx` the tokens of a row that are already in the KV cache when the step starts, and
 * `n` the tokens of a prefill chunk. c0 is the weight read and the launches, T0 the knee where the matrix products
 * become compute-bound, c1 compute per token, c2 the KV bytes read per context token, c3 the attention's quadratic part,
 * c4 sampling and scheduling per row. The hinge is that of NVIDIA's aiconfigurator, the decode and prefill terms are those of
 * DistServe (OSDI '24) and Vidur (MLSys '24).
 */
export interface StepTimeModel {
  /** c0, ms per step. */
  readonly baseMs: number
  /** T0, tokens of a step that cost nothing beyond c0. */
  readonly kneeTokens: number
  /** c1, ms per token above the knee. */
  readonly perTokenMs: number
  /** c2, ms per context token of a decoding row. */
  readonly perContextTokenMs: number
  /** c3, ms per pair of (new token, earlier token) of a prefill chunk. */
  readonly perPairMs: number
  /** c4, ms per row of the batch. */
  readonly perSequenceMs: number
}

/** What a step holds, as far as its time depends on it. */
export interface StepBatch {
  /** T: all tokens scheduled. */
  readonly tokens: number
  /** Σ ctx over the decoding rows. */
  readonly decodeContextTokens: number
  /** Σ n·(ctx + n/2) over the prefill chunks. */
  readonly prefillPairs: number
  /** Rows in the batch. */
  readonly sequences: number
}

/** The time of one step in ms. */
export function stepTimeMs(model: StepTimeModel, batch: StepBatch): number {
  const over = batch.tokens - model.kneeTokens
  return (
    model.baseMs +
    (over > 0 ? model.perTokenMs * over : 0) +
    model.perContextTokenMs * batch.decodeContextTokens +
    model.perPairMs * batch.prefillPairs +
    model.perSequenceMs * batch.sequences
  )
}
