import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import { plain, rateText, seconds, timeText } from '../../stats/calculators/figures.ts'
import { assumed, needed } from '../../stats/calculators/inputs.ts'
import { count, rate, share } from '../../stats/calculators/quantities.ts'
import { divide, rational, toNumber } from '../../stats/rational.ts'
import { longestRetryAfterSeconds, retryAfterRange, retryAfterSeconds } from '../retry-after.ts'

export const retryAfterCalculator: Calculator = calculator({
  name: 'retry-after',
  group: 'Admission',
  brief: 'What should a 429 tell its client?',
  formula: '⌈waiting ÷ drain rate⌉, held within 1 to 60 s, then jitter',
  inputs: {
    waiting: needed(count(0), 'requests in the queue', { bare: true, also: ['queue', 'queued'] }),
    drain: needed(rate, 'how fast they are taken up', { bare: true, also: ['rate', 'completions'] }),
    jitter: assumed(share, '25%', 'spread of the answers'),
  },
  examples: [
    ['30 8/s', 'a short queue'],
    ['1000 8/s', 'longer than clients believe'],
    ['30 8/s --jitter 0%', 'all of them told the same'],
  ],
  work({ waiting, drain, jitter }) {
    const exact = drain.exact.num === 0n ? null : divide(rational(waiting), drain.exact)
    const told = retryAfterSeconds(waiting, drain.exact)
    const { from, to } = retryAfterRange(told, jitter.value)
    const isCapped = exact === null || toNumber(exact) > longestRetryAfterSeconds
    return {
      answer: from === to ? `Retry-After: ${from}` : `Retry-After: ${from} to ${to}, drawn for each answer`,
      results: {
        retry_after: seconds(1000 * told),
        from: seconds(1000 * from),
        to: seconds(1000 * to),
        queue_empty_after: seconds(
          exact === null ? null : 1000 * toNumber(exact),
          'never: nothing is taken up',
        ),
      },
      working: [
        exact === null
          ? `${plain(waiting)} waiting, nothing is taken up`
          : `${plain(waiting)} ÷ ${rateText(drain.exact)} = ${timeText(1000 * toNumber(exact))} → ${told} s${isCapped || told > Math.ceil(toNumber(exact)) ? ' (held within 1 to 60 s)' : ''}`,
        `with ${plain(jitter.value * 100)} % jitter: ${from} to ${to} s`,
        ...(isCapped
          ? ['the queue takes longer than clients believe: x-should-retry: false keeps them away meanwhile']
          : []),
      ],
      assumptions: [
        'nobody else comes meanwhile',
        "OpenAI's clients do what they are told up to 60 s, and come back in half a second where they are told more",
      ],
      mistake: 'the same number for everybody: all who were refused together come back together',
      next: ['plimsoll calc backoff 429', 'plimsoll calc admission'],
    }
  },
})
