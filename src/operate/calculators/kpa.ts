import { noun } from '../../base/noun.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, numberFigure, plain, wordFigure } from '../../stats/calculators/figures.ts'
import { assumed, needed } from '../../stats/calculators/inputs.ts'
import { count, number } from '../../stats/calculators/quantities.ts'
import { calmKpa, kpaDefaults, kpaStep } from '../scale/knative.ts'

export const kpaCalculator: Calculator = calculator({
  name: 'kpa',
  group: 'Scaling',
  brief: "How many pods does Knative's autoscaler want, and does it panic?",
  formula:
    '⌈concurrency ÷ target⌉ over 60 s and over 6 s; panic where the second ÷ ready ≥ 2; burst = ⌊ready × capacity − 211 − panic⌋',
  inputs: {
    ready: needed(count(0), 'pods that are ready', { bare: true, also: ['pods'] }),
    stable: needed(number, 'concurrency of all pods, mean of 60 s', { bare: true }),
    panic: needed(number, 'and of the last 6 s', { bare: true }),
    target: assumed(number, String(kpaDefaults.target), 'concurrency that one pod is aimed at'),
    capacity: assumed(number, String(kpaDefaults.capacity), 'the most that a pod takes, for the burst'),
    burst: assumed(number, String(kpaDefaults.burstCapacity), 'target burst capacity'),
    'panic-threshold': assumed(
      number,
      String(kpaDefaults.panicThreshold),
      'pods wanted over ready at which it panics',
    ),
  },
  examples: [
    ['2 100 400', 'a burst: panic'],
    ['10 700 900', 'no panic'],
    ['10 100 100', 'down by half at most'],
  ],
  work({ ready, stable, panic, target, capacity, burst, 'panic-threshold': threshold }) {
    if (target.exact.num === 0n) throw impossible('a target of 0 is never met', '--target above 0', '0')
    const step = kpaStep(calmKpa, { ready, stable: stable.value, panic: panic.value }, 0, {
      ...kpaDefaults,
      target: target.value,
      capacity: capacity.value,
      burstCapacity: burst.value,
      panicThreshold: threshold.value,
    })
    return {
      answer: `${plain(ready)} → ${plain(step.desired)} ${noun(step.desired, 'pod')}${step.panicking ? ', in panic' : ''}`,
      results: {
        desired: countFigure(step.desired, 'pods'),
        panicking: wordFigure(step.panicking),
        stable_pods: countFigure(step.stable, 'pods'),
        panic_pods: countFigure(step.panic, 'pods'),
        excess_burst_capacity: numberFigure(step.excessBurstCapacity),
      },
      working: [
        `⌈${plain(stable.value)} ÷ ${plain(target.value)}⌉ = ${plain(step.stable)} stable, ⌈${plain(panic.value)} ÷ ${plain(target.value)}⌉ = ${plain(step.panic)} panic`,
        `${plain(step.panic)} ÷ ${plain(Math.max(1, ready))} ready = ${plain(step.panic / Math.max(1, ready))} ${step.panicking ? '≥' : '<'} ${plain(threshold.value)}: ${step.panicking ? 'panic, which never goes down' : 'no panic'}`,
        `between ⌊${plain(ready)} ÷ 2⌋ and ${plain(ready)} × 1,000: ${plain(step.desired)}`,
        `burst: ⌊${plain(ready)} × ${plain(capacity.value)} − ${plain(burst.value)} − ${plain(panic.value)}⌋ = ${plain(step.excessBurstCapacity)}: the activator ${step.excessBurstCapacity < 0 ? 'stays in the path' : 'steps aside'}`,
      ],
      assumptions: ['one tick from calm; min and max scale come after'],
      mistake: 'concurrency as the load of an engine: it does not see how long the prompts and answers are',
      next: ['plimsoll calc hpa', 'plimsoll calc ray'],
    }
  },
})
