import { PlimsollError } from '../base/errors.ts'
import { noun } from '../base/noun.ts'
import { formatCount } from '../base/units.ts'
import type { Warning } from '../base/warnings.ts'
import { prefillShape } from '../judge/prefill-shape.ts'
import {
  fitPrefill,
  marginalPrefillRate,
  twoPointError,
  type PrefillPoint,
} from '../measure/metrics/prefill-line.ts'
import type { FixedPart, PrefillDocument, PrefillLength } from '../report/prefill-document.ts'
import { mean, median } from '../stats/describe.ts'
import { coefficientInterval, theilSen, type Line } from '../stats/regression.ts'

/** One answer of a prefill sweep. */
export interface PrefillSample extends PrefillPoint {
  readonly ttfbMs: number | null
  readonly lagMs: number | null
  readonly cachedTokens: number | null
}

/** What was learnt besides the answers. */
export interface PrefillBeside {
  readonly version: string
  readonly folder: string | null
  readonly source: string
  /** The lengths that were asked and answered, where they are not known from the server alone. */
  readonly asked?: readonly number[]
  readonly model: string | null
  readonly embedded: boolean
  readonly interrupted: boolean
  /** Most tokens of a prompt in a step, where it is known. */
  readonly chunk: number | null
  /** Mean wait of a request before its first step, by the engine's metrics. */
  readonly queueMs: number | null
  readonly queueWhy: string
  /** TPOT of a lone stream: one step that decodes. */
  readonly decodeStepMs: number | null
  readonly warnings: readonly Warning[]
}

/**
 * Fits the line through the medians of a prefill sweep and says what may be said of it.
 * @throws PlimsollError PLIM_NUMBER for fewer than two lengths.
 */
export function prefillDocument(samples: readonly PrefillSample[], beside: PrefillBeside): PrefillDocument {
  const lengths = groupByLength(samples)
  const points = lengths.map(({ prompt_tokens, ttft_ms }) => ({
    promptTokens: prompt_tokens,
    ttftMs: ttft_ms,
  }))
  const fit = fitPrefill(points)
  const [first] = points
  const last = points.at(-1)
  if (fit === null || first === undefined || last === undefined) {
    const only = lengths[0]
    const { asked = [] } = beside
    if (only !== undefined && asked.length > 1) {
      const counted = formatCount(only.prompt_tokens)
      throw new PlimsollError('PLIM_NUMBER', `the server counted every prompt as ${counted} tokens`, {
        expected: 'a prompt_tokens in its usage that grows with the prompt',
        received: `${counted} for prompts of ${asked.map(formatCount).join(', ')} tokens`,
        hint: 'a proxy or a mock may fill in the usage: ask the engine itself',
      })
    }
    throw new PlimsollError('PLIM_NUMBER', 'a prefill rate needs two prompt lengths', {
      received: `${lengths.length} ${noun(lengths.length, 'length')}`,
      hint: 'one length divided by its TTFT counts the fixed cost as prefill',
    })
  }
  const { robust, leastSquares, curve } = fit
  const sen = theilSen(
    points.map(({ promptTokens }) => promptTokens),
    points.map(({ ttftMs }) => ttftMs),
  )
  const shape = prefillShape(points, beside.chunk)
  const rateAt = (slope: number): number | null => (slope > 0 ? 1000 / slope : null)
  const slopes = sen?.slopeInterval ?? slopeInterval(leastSquares.line)
  const naive = (1000 * first.promptTokens) / first.ttftMs
  const error = points.length === 2 ? twoPointError(first, last, 1) : null
  const fixedMs = robust.fixedMs
  return {
    schema: 'plimsoll.prefill/1',
    plimsoll: beside.version,
    folder: beside.folder,
    source: beside.source,
    model: beside.model,
    embedded: beside.embedded,
    interrupted: beside.interrupted,
    lengths,
    rate: {
      tokens_per_s: robust.tokensPerSecond,
      interval: slopes === null ? null : [rateAt(slopes[1]), rateAt(slopes[0])],
      fixed_ms: fixedMs,
      fixed_interval: leastSquares.fixedIntervalMs,
      why:
        points.length < 3 ? 'two lengths leave nothing over to judge the line by: take four or more' : null,
    },
    least_squares: {
      tokens_per_s: leastSquares.tokensPerSecond,
      rate_relative_se: leastSquares.rateRelativeSe,
      fixed_ms: leastSquares.fixedMs,
      fixed_se_ms: leastSquares.line.interceptSe,
      r2: leastSquares.line.r2,
    },
    two_points:
      error === null
        ? null
        : { rate_relative_per_ms: error.rateRelativeSe, fixed_ms_per_ms: error.fixedSeMs },
    one_point:
      first.ttftMs <= 0
        ? null
        : {
            prompt_tokens: first.promptTokens,
            ttft_ms: first.ttftMs,
            tokens_per_s: naive,
            factor: robust.tokensPerSecond === null ? null : robust.tokensPerSecond / naive,
          },
    curve:
      curve === null
        ? null
        : {
            ms_per_token2: curve.quadratic,
            p: curve.quadraticP,
            significant: shape.curved,
            tokens_per_s_at_shortest: marginalPrefillRate(curve, first.promptTokens),
            tokens_per_s_at_longest: marginalPrefillRate(curve, last.promptTokens),
          },
    staircase:
      shape.staircase === null
        ? null
        : {
            chunk: shape.staircase.chunk,
            ms_per_chunk: shape.staircase.msPerChunk,
            p: shape.staircase.p,
          },
    worst_residual:
      shape.worstResidual === null
        ? null
        : { share: shape.worstResidual.share, prompt_tokens: shape.worstResidual.promptTokens },
    fixed_parts: fixedParts(samples, lengths, fixedMs, robust.tokensPerSecond, beside),
    warnings: [...beside.warnings, ...cached(lengths)],
  }
}

/** Below four points Sen's interval does not exist: the t interval of least squares, which with three is very wide. */
function slopeInterval({ slope, slopeSe, n }: Line): readonly [number, number] | null {
  return coefficientInterval(slope, slopeSe, n)
}

function groupByLength(samples: readonly PrefillSample[]): readonly PrefillLength[] {
  const groups = new Map<number, PrefillSample[]>()
  for (const sample of samples) {
    groups.set(sample.promptTokens, [...(groups.get(sample.promptTokens) ?? []), sample])
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([promptTokens, group]): PrefillLength => {
      const times = group.map(({ ttftMs }) => ttftMs)
      return {
        prompt_tokens: promptTokens,
        n: group.length,
        ttft_ms: median(times) ?? 0,
        fastest_ms: Math.min(...times),
        slowest_ms: Math.max(...times),
        ttfb_ms: median(known(group.map(({ ttfbMs }) => ttfbMs))),
        cached_tokens: mean(known(group.map(({ cachedTokens }) => cachedTokens))),
      }
    })
}

function known(values: readonly (number | null)[]): readonly number[] {
  return values.filter((value) => value !== null)
}

/** A first byte that grows by under this share of what TTFT grows by comes before the prefill, not with it. */
const earlyByteShare = 0.1

/** What is in the fixed cost, as far as it can be told apart. Parts are not measured together, so the rest may be negative. */
function fixedParts(
  samples: readonly PrefillSample[],
  lengths: readonly PrefillLength[],
  fixedMs: number,
  tokensPerSecond: number | null,
  { queueMs, queueWhy, decodeStepMs, folder }: PrefillBeside,
): readonly FixedPart[] {
  if (folder === null) return []
  const lag = median(known(samples.map(({ lagMs }) => lagMs)))
  const firstByte = earlyByte(lengths, tokensPerSecond)
  const parts: FixedPart[] = [
    { name: 'client_lag', ms: lag, why: lag === null ? 'unknown' : 'the client’s own delay, median' },
    {
      name: 'first_byte',
      ms: firstByte === null ? null : Math.max(0, firstByte - (lag ?? 0)),
      why:
        firstByte === null
          ? 'the server sends its first byte with the first token'
          : 'network and front end, up to the first byte of the answer',
    },
    { name: 'queue', ms: queueMs, why: queueWhy },
    {
      name: 'decode_step',
      ms: decodeStepMs,
      why:
        decodeStepMs === null
          ? 'no answer of several tokens was measured'
          : 'a step costs this with hardly a token in it (TPOT of a lone stream)',
    },
  ]
  const told = parts.reduce((sum, { ms }) => sum + (ms ?? 0), 0)
  return [...parts, { name: 'rest', ms: fixedMs - told, why: 'what these do not explain' }]
}

/** The median first byte, where it does not grow with the prompt. */
function earlyByte(lengths: readonly PrefillLength[], tokensPerSecond: number | null): number | null {
  const withByte = lengths.filter(({ ttfb_ms }) => ttfb_ms !== null)
  const line = theilSen(
    withByte.map(({ prompt_tokens }) => prompt_tokens),
    withByte.map(({ ttfb_ms }) => ttfb_ms ?? 0),
  )
  if (line === null || tokensPerSecond === null) return null
  if (line.slope * tokensPerSecond > earlyByteShare * 1000) return null
  return median(withByte.map(({ ttfb_ms }) => ttfb_ms ?? 0))
}

function cached(lengths: readonly PrefillLength[]): readonly Warning[] {
  const hits = lengths.filter(({ cached_tokens }) => (cached_tokens ?? 0) > 0)
  const [one] = hits
  if (one === undefined) return []
  return [
    {
      kind: 'prefix_cache',
      message: `at ${hits.length} of ${lengths.length} lengths prompt tokens came from the prefix cache (${(one.cached_tokens ?? 0).toFixed(0)} of ${one.prompt_tokens})`,
      cause: 'they cost no prefill, so the rate is too high',
      next: 'a fresh --salt (the default), or the cache off',
      evidence: { lengths: hits.length },
    },
  ]
}
