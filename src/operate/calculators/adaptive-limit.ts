import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, timeText } from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, number, word } from '../../stats/calculators/quantities.ts'
import { aimd, aimdDefaults } from '../admission/aimd.ts'
import { envoyGradient, envoyGradientDefaults } from '../admission/envoy-gradient.ts'
import { gradient2, gradient2Defaults } from '../admission/gradient2.ts'

export const adaptiveLimitCalculator: Calculator = calculator({
  name: 'adaptive-limit',
  group: 'Admission',
  brief: 'What does a proxy with an adaptive limit do next: Gradient2, AIMD, Envoy?',
  formula:
    'Gradient2: limit × clamp(1.5 long ÷ short, ½, 1) + 4, smoothed by 0.2; AIMD: × 0.9 after a drop, else + 1; Envoy: g·limit + √(g·limit), g = clamp(1.25 min ÷ sample, ½, 2)',
  inputs: {
    limit: needed(number, 'the limit now', { bare: true, also: ['concurrency'] }),
    long: needed(duration, 'usual RTT: the long mean of Gradient2, the least of Envoy', {
      bare: true,
      also: ['base', 'min-rtt'],
    }),
    short: needed(duration, 'RTT of the last window', { bare: true, also: ['sample', 'rtt'] }),
    'in-flight': optional(count(0), 'requests in flight; the limit unless said'),
    dropped: assumed(word('no', 'yes'), 'no', 'whether one was dropped'),
  },
  examples: [
    ['100 100ms 200ms', 'twice as slow as usual'],
    ['100 100ms 100ms --dropped yes', 'a drop'],
    ['100 100ms 200ms --in-flight 20', 'too little load to learn from'],
  ],
  work({ limit, long, short, 'in-flight': given, dropped }) {
    if (short.exact.num === 0n) throw impossible('an answer takes more than no time', 'an RTT above 0', '0')
    const inFlight = given ?? limit.value
    const netflix = gradient2(limit.value, { longRtt: long.value, shortRtt: short.value, inFlight })
    const additive = aimd(limit.value, { rttMs: short.value, dropped: dropped === 'yes', inFlight })
    const envoy = envoyGradient(limit.value, { minRtt: long.value, sampleRtt: short.value })
    const isIdle = inFlight < limit.value / 2
    const g = (factor: number, least: number, most: number): number =>
      Math.max(least, Math.min(most, (factor * long.value) / short.value))
    const gNetflix = g(gradient2Defaults.tolerance, 0.5, 1)
    const gEnvoy = g(1 + envoyGradientDefaults.buffer, 0.5, 2)
    return {
      answer: `Gradient2 ${plain(netflix)}, AIMD ${plain(additive)}, Envoy ${plain(envoy)}`,
      results: {
        gradient2: countFigure(netflix, 'in flight'),
        aimd: countFigure(additive, 'in flight'),
        envoy: countFigure(envoy, 'in flight'),
      },
      working: [
        isIdle
          ? `Gradient2: ${plain(inFlight)} in flight are fewer than half of ${plain(limit.value)}: no change`
          : `Gradient2: g = ${plain(gNetflix)}; 0.8 × ${plain(limit.value)} + 0.2 × (${plain(limit.value)} × ${plain(gNetflix)} + 4) = ${plain(netflix)}, within 20 to 200`,
        `AIMD: ${
          dropped === 'yes' || short.value > aimdDefaults.timeoutMs
            ? `${dropped === 'yes' ? 'a drop' : `${timeText(short.value)} are over 5 s`}: ⌊${plain(limit.value)} × 0.9⌋`
            : isIdle
              ? 'less than half used: no change'
              : `${plain(limit.value)} + 1`
        } = ${plain(additive)}, within 20 to 200`,
        `Envoy: g = ${plain(gEnvoy)}; ⌊${plain(limit.value * gEnvoy)} + √${plain(limit.value * gEnvoy)}⌋ = ${plain(envoy)}, within 3 to 1,000`,
      ],
      assumptions: ['the settings that each has unless told otherwise'],
      mistake:
        'any of them in front of an engine as it is: the time of a generation grows with the length of the answer and with the batch by design, so the limit follows the mix and sinks where the engine works best; bound by TTFT and pace against the objective instead',
      next: ['plimsoll calc admission', 'plimsoll sweep'],
    }
  },
})
