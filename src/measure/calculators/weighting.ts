import type { Warning } from '../../base/warnings.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  milliseconds,
  plain,
  seconds,
  shareFigure,
  shareText,
  timesLike,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration, level } from '../../stats/calculators/quantities.ts'
import { mean } from '../../stats/describe.ts'
import { percentile, percentileKey } from '../../stats/percentile.ts'
import { ratioOfSums } from '../../stats/ratio.ts'

/** So many requests of so many tokens each, with a gap between tokens; one token has no gap. */
interface Group {
  readonly requests: number
  readonly tokens: number
  readonly gapMs: number | null
}

/** `50x20@50ms`; `20@50ms` is one request. */
const group: Reading<Group> = {
  placeholder: 'REQUESTSxTOKENS@GAP',
  read(text, what) {
    const match = /^(?:([\d,.]+[kM]?)\s*[x×]\s*)?([\d,.]+[kM]?)(?:\s*[@:]\s*(.+))?$/.exec(text.trim())
    if (match === null) {
      throw impossible(
        `${what} cannot be read`,
        'requests x tokens @ gap, such as 50x20@50ms',
        text.trim() === '' ? 'nothing' : JSON.stringify(text),
      )
    }
    const tokens = count(1).read(match[2]!, what)
    const gap = match[3] === undefined ? null : duration.read(match[3], what).value
    if (tokens > 1 && gap === null) throw impossible(`${what} needs a gap`, `${text}@20ms`, text)
    return {
      requests: match[1] === undefined ? 1 : count(1).read(match[1], what),
      tokens,
      gapMs: tokens > 1 ? gap : null,
    }
  },
}

const mostRequests = 100_000

export const weightingCalculator: Calculator = calculator({
  name: 'weighting',
  group: 'One request',
  brief: 'TPOT for a typical user and for a typical token: why do they differ?',
  formula: 'typical user = Σ TPOT ÷ requests; typical token = Σ gap time ÷ Σ gaps',
  inputs: {
    groups: several(group, 1, 'requests by kind', { bare: true, also: ['group'] }),
    percentiles: several(level, 0, 'more percentiles of both', { also: ['p', 'percentile'] }),
  },
  examples: [
    ['50x20@50ms 10x1000@10ms', 'many short slow answers, a few long fast ones'],
    ['90x50@12ms 10x2000@30ms', 'the other way round'],
    ['50x20@50ms 10x1000@10ms --percentiles 16,17,91,92', 'where the two populations cross'],
    ['1x2@100ms 1x101@10ms 1x1', 'an answer of one token is counted apart'],
  ],
  work({ groups, percentiles }) {
    const paced = groups.filter(({ gapMs }) => gapMs !== null)
    const total = groups.reduce((sum, { requests }) => sum + requests, 0)
    if (total > mostRequests)
      throw impossible('too many requests to list', `at most ${plain(mostRequests)}`, plain(total))
    const excluded = groups.reduce((sum, one) => sum + (one.gapMs === null ? one.requests : 0), 0)
    if (paced.length === 0) throw impossible('one token has no pace', 'a request of at least two tokens')
    const each = paced.flatMap(({ requests, tokens, gapMs }) =>
      Array.from({ length: requests }, () => ({ gaps: tokens - 1, pace: gapMs! })),
    )
    const perUser = mean(each.map(({ pace }) => pace))!
    const pooled = ratioOfSums(
      each.map(({ gaps, pace }) => gaps * pace),
      each.map(({ gaps }) => gaps),
    )!
    const gaps = each.reduce((sum, one) => sum + one.gaps, 0)
    const time = each.reduce((sum, one) => sum + one.gaps * one.pace, 0)
    const results: Record<string, Figure> = {
      per_request: milliseconds(perUser),
      per_token: milliseconds(pooled.ratio),
      per_token_se: milliseconds(pooled.se, 'none: one request'),
      requests: countFigure(each.length, 'requests'),
      effective_requests: countFigure(pooled.nEff, 'requests'),
      excluded: countFigure(excluded, 'requests'),
      gaps: countFigure(gaps, 'gaps'),
      stream_time: seconds(time),
    }
    const working = [
      `typical user = Σ TPOT ÷ requests = (${paced.map((one) => `${plain(one.requests)} × ${timeText(one.gapMs!)}`).join(' + ')}) ÷ ${plain(each.length)} = ${timeText(perUser)}`,
      `typical token = Σ gap time ÷ Σ gaps = (${paced.map((one) => `${plain(one.requests)} × ${plain(one.tokens - 1)} × ${timeText(one.gapMs!)}`).join(' + ')}) ÷ ${plain(gaps)} = ${timesLike(1000)(time)} ÷ ${plain(gaps)} = ${timeText(pooled.ratio)}`,
    ]
    paced.forEach((one, index) => {
      const own = one.requests * (one.tokens - 1)
      results[`group_${index + 1}_gaps`] = countFigure(own, 'gaps')
      results[`group_${index + 1}_share_of_gaps`] = shareFigure(own / gaps)
    })
    const shares = paced.map(
      (one) =>
        `${shareText((one.requests * (one.tokens - 1)) / gaps)} of the gaps from ${shareText(one.requests / each.length)} of the requests`,
    )
    working.push(
      shares.join('; '),
      `the typical token rests on ${plain(pooled.nEff, 3)} effective of ${plain(each.length)} requests${pooled.se === null ? '' : `: ± ${timeText(pooled.se)} (1 SE)`}`,
    )
    if (excluded > 0)
      working.push(`answers of one token: ${plain(excluded)}; they have no pace and are counted apart`)
    const byRequest = each.map(({ pace }) => pace).sort((a, b) => a - b)
    const byToken = tokenGaps(paced)
    for (const p of ['50', '99', ...percentiles]) {
      const key = percentileKey(p)
      results[`request_${key}`] = milliseconds(percentile(byRequest, p))
      results[`token_${key}`] = milliseconds(percentile(byToken, p))
      if (percentiles.includes(p)) {
        working.push(
          `p${p}: of the requests ${results[`request_${key}`]!.text}, of the tokens ${results[`token_${key}`]!.text}`,
        )
      }
    }
    const tokens = paced.reduce((sum, one) => sum + one.requests * one.tokens, 0)
    const wrongN = paced.reduce((sum, one) => sum + one.requests * one.tokens * one.gapMs!, 0) / tokens
    return {
      answer: `typical user ${timeText(perUser)}, typical token ${timeText(pooled.ratio)}`,
      results,
      working,
      assumptions: [
        'the gap of a group is the mean gap of each of its requests',
        'the sample of a per-token mean is its requests, not its tokens',
      ],
      mistake: `weighting by N instead of N − 1 gaps gives ${timeText(wrongN)}; averaging the two figures means nothing`,
      warnings: [differ(perUser, pooled.ratio, pooled.nEff, each.length)],
      next: ['plimsoll calc tpot', 'plimsoll run --explain'],
    }
  },
})

/** All gaps, ascending; they are few kinds of equal ones. */
function tokenGaps(groups: readonly Group[]): Float64Array {
  const runs = groups.map(({ requests, tokens, gapMs }) => ({
    times: requests * (tokens - 1),
    gapMs: gapMs!,
  }))
  const size = runs.reduce((sum, { times }) => sum + times, 0)
  if (size > 50_000_000) throw impossible('too many gaps to list', 'at most 50M', plain(size))
  const values = new Float64Array(size)
  let at = 0
  for (const { times, gapMs } of runs.toSorted((a, b) => a.gapMs - b.gapMs)) {
    values.fill(gapMs, at, at + times)
    at += times
  }
  return values
}

function differ(user: number, token: number, effective: number, requests: number): Warning | null {
  if (Math.abs(user - token) <= 0.2 * Math.min(user, token) && effective >= requests / 2) return null
  return {
    kind: 'weightings_differ',
    message: `${timeText(user)} for a typical user, ${timeText(token)} for a typical token`,
    cause: user > token ? 'long answers are faster per token here' : 'long answers are slower per token here',
    next: 'say which of the two a limit is about',
    evidence: { per_request_ms: user, per_token_ms: token, n_eff: effective, requests },
  }
}
