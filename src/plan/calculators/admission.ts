import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  rateText,
  seconds,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { needed, optional } from '../../stats/calculators/inputs.ts'
import { count, duration, rate } from '../../stats/calculators/quantities.ts'
import { admission, engineFlags } from '../engine-flags.ts'

export const admissionCalculator: Calculator = calculator({
  name: 'admission',
  group: 'Admission',
  brief: 'How many may run and wait, and by which flags of the engine?',
  formula:
    'wait ≤ TTFT limit − P99 of TTFT; queue = rate × wait; tokens = TTFT limit × prefill rate; Retry-After = ⌈queue ÷ rate⌉',
  inputs: {
    running: needed(count(1), 'the largest batch that kept the objective', {
      bare: true,
      also: ['in-flight', 'batch', 'max-num-seqs'],
    }),
    rate: needed(rate, 'what the replica carries there', { bare: true, also: ['each', 'capacity'] }),
    ttft: optional(duration, 'limit of the objective on TTFT', { bare: true, also: ['ttft-limit'] }),
    p99: optional(duration, 'P99 of TTFT at that load', { bare: true, also: ['ttft-p99'] }),
    'max-wait': optional(duration, 'longest time in the queue, instead of what TTFT leaves'),
    'prefill-rate': optional(rate, 'prompt tokens per second of prefill alone', { also: ['prefill'] }),
  },
  examples: [
    ['32 8/s 2s 0.8s --prefill-rate 20000tok/s', 'everything that an engine takes'],
    ['32 8/s --max-wait 500ms', 'bounded by a time as given'],
    ['32 8/s 2s 2.5s', 'TTFT leaves no time to wait'],
  ],
  work({ running, rate: each, ttft, p99, 'prefill-rate': prefill, 'max-wait': maxWait }) {
    if (each.exact.num === 0n)
      throw impossible('a replica carries more than nothing', 'a rate above 0', '0/s')
    const limits = admission({
      inFlight: running,
      requestsPerSecond: each.exact,
      ttftLimitMs: ttft?.value ?? null,
      ttftP99Ms: p99?.value ?? null,
      maxWaitMs: maxWait?.value ?? null,
      prefillTokensPerSecond: prefill?.exact ?? null,
    })
    const flags = engineFlags(limits)
    const none = limits.why.wait
    const results: Record<string, Figure> = {
      max_running: countFigure(limits.maxRunning, 'requests'),
      max_wait: seconds(limits.maxWaitMs, none),
      max_queued: countFigure(limits.maxQueued, 'requests', none),
      max_queued_tokens: countFigure(limits.maxQueuedTokens, 'tokens', limits.why.queued_tokens),
      retry_after: seconds(limits.retryAfterSeconds === null ? null : 1000 * limits.retryAfterSeconds, none),
    }
    return {
      answer: `vLLM: ${flags['vllm']!.join(' ')}`,
      results,
      working: [
        limits.maxWaitMs === null ? `wait: ${none}` : `wait ${timeText(limits.maxWaitMs)}: ${none}`,
        ...(limits.maxQueued === null || limits.maxWaitMs === null
          ? []
          : [
              `queue = ⌊${rateText(each.exact)} × ${timeText(limits.maxWaitMs)}⌋ = ${plain(limits.maxQueued)}; running and waiting ${plain(limits.maxInFlight ?? 0)}`,
              `Retry-After = ⌈${plain(limits.maxQueued)} ÷ ${rateText(each.exact)}⌉ = ${plain(limits.retryAfterSeconds ?? 0)} s, within 1 to 60, then jitter`,
            ]),
        ...(limits.maxQueuedTokens === null || prefill === null || ttft === null
          ? []
          : [
              `tokens = ${timeText(ttft.value)} × ${rateText(prefill.exact, 'tok')} = ${plain(limits.maxQueuedTokens)}`,
            ]),
        ...Object.entries(flags).map(([engine, list]) => `${engine}: ${list.join(' ')}`),
      ],
      assumptions: [
        'one replica; a gateway before several multiplies by their number',
        'vLLM counts running and waiting in --max-num-queued-reqs, SGLang only the waiting',
      ],
      mistake:
        'a queue without a bound: under overload every request waits longer than its client, and all of it is work for nobody',
      next: ['plimsoll plan SWEEP --peak RATE --out deploy', 'plimsoll calc retry-after'],
    }
  },
})
