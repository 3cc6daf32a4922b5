import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  milliseconds,
  numberFigure,
  plain,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { optional, several, type Reading } from '../../stats/calculators/inputs.ts'
import { count, duration, number, pair, type Quantity } from '../../stats/calculators/quantities.ts'
import { mean } from '../../stats/describe.ts'
import { ratioOfSums } from '../../stats/ratio.ts'
import { messagesNotTokens } from '../traps.ts'

const message: Reading<readonly [Quantity, number]> = pair(duration, count(1), 'GAP:TOKENS')

export const chunksCalculator: Calculator = calculator({
  name: 'chunks',
  group: 'One request',
  brief: 'Several tokens in one message: what is the pace?',
  formula: 'TPOT = Σ gap time ÷ Σ tokens after the first message',
  inputs: {
    messages: several(message, 0, 'gap before each message, and its tokens', {
      bare: true,
      also: ['message'],
    }),
    gap: optional(duration, 'mean gap between messages', { also: ['message-gap'] }),
    tokens: optional(number, 'mean tokens in a message', { also: ['tokens-per-message', 'n'] }),
  },
  examples: [
    ['45ms:3', 'three tokens every 45 ms'],
    ['20ms:1 45ms:3 70ms:5', 'speculative decoding, as many as were accepted'],
    ['--gap 45ms --tokens 3', 'the same from means'],
  ],
  work({ messages, gap, tokens }) {
    if (messages.length === 0 && (gap === null || tokens === null)) {
      throw impossible('messages are missing', 'GAP:TOKENS…, or --gap TIME and --tokens N')
    }
    const times = messages.length > 0 ? messages.map(([time]) => time.value) : [gap!.value]
    const counts = messages.length > 0 ? messages.map(([, n]) => n) : [tokens!.value]
    const found = ratioOfSums(times, counts)
    if (found === null)
      throw impossible('a message holds at least one token', 'a number of tokens above 0', '0')
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
    const between = mean(times)!
    const wrong = mean(times.map((time, index) => time / counts[index]!))!
    const results: Record<string, Figure> = {
      tpot: milliseconds(found.ratio),
      message_gap: milliseconds(between),
      tokens_per_message: numberFigure(sum(counts) / counts.length),
      messages: countFigure(messages.length < 2 ? null : messages.length, 'messages', 'not said'),
    }
    const single = times.length === 1
    return {
      answer: `TPOT ${timeText(found.ratio)}`,
      results,
      working: [
        single
          ? `TPOT = gap ÷ tokens = ${timeText(times[0]!)} ÷ ${plain(counts[0]!)} = ${timeText(found.ratio)}`
          : `TPOT = Σ gaps ÷ Σ tokens = (${times.map((time) => timeText(time)).join(' + ')}) ÷ (${counts.map((n) => plain(n)).join(' + ')}) = ${timeText(sum(times))} ÷ ${plain(sum(counts))} = ${timeText(found.ratio)}`,
        `mean gap between messages ${timeText(between)}: what a reader sees, not what a token takes`,
      ],
      assumptions: [
        'tokens are those of the usage',
        'the first message, and what it carried, is TTFT and stands outside',
      ],
      mistake:
        single || wrong === found.ratio
          ? `reading the ${timeText(between)} between messages as inter-token latency`
          : `the mean of the ratios is ${timeText(wrong)}: small messages count as much as big ones`,
      warnings: [messages.length < 2 ? null : messagesNotTokens(messages.length, sum(counts)).warning],
      next: ['plimsoll calc tpot 2.3s 0.3s 401 --first-tokens 4'],
    }
  },
})
