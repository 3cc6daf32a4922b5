import { noun } from '../../base/noun.ts'
import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, seconds, timeText } from '../../stats/calculators/figures.ts'
import { assumed, needed } from '../../stats/calculators/inputs.ts'
import { count, duration, number } from '../../stats/calculators/quantities.ts'
import { rayDefaults, rayWanted } from '../scale/ray.ts'

export const rayCalculator: Calculator = calculator({
  name: 'ray',
  group: 'Scaling',
  brief: 'How many replicas does Ray Serve want, and after how long?',
  formula: '⌈running × (1 + (ongoing ÷ (target × running) − 1) × factor)⌉, wanted for longer than the delay',
  inputs: {
    running: needed(count(0), 'replicas that run', { bare: true, also: ['replicas'] }),
    ongoing: needed(number, 'requests that they have, queued ones too', { bare: true, also: ['requests'] }),
    target: assumed(number, String(rayDefaults.targetOngoing), 'requests of one replica that are aimed at', {
      also: ['target-ongoing-requests'],
    }),
    'up-factor': assumed(number, '1', 'of the step up', { also: ['upscaling-factor'] }),
    'down-factor': assumed(number, '1', 'of the step down', { also: ['downscaling-factor'] }),
    min: assumed(count(0), '1', 'least replicas', { also: ['min-replicas'] }),
    max: assumed(count(0), '1M', 'most replicas', { also: ['max-replicas'] }),
    'up-delay': assumed(duration, '30s', 'how long more has to be wanted'),
    'down-delay': assumed(duration, '600s', 'how long fewer have to be wanted'),
  },
  examples: [
    ['3 10', 'up after half a minute'],
    ['3 2', 'down after ten'],
    ['0 1', 'from nothing at once'],
  ],
  work(given) {
    const { running, ongoing, target, min, max } = given
    if (target.exact.num === 0n) throw impossible('a target of 0 is never met', '--target above 0', '0')
    const wanted = rayWanted(running, ongoing.value, {
      ...rayDefaults,
      targetOngoing: target.value,
      upscalingFactor: given['up-factor'].value,
      downscalingFactor: given['down-factor'].value,
      minReplicas: min,
      maxReplicas: max,
    })
    const delayMs =
      wanted === running || running === 0
        ? 0
        : wanted > running
          ? given['up-delay'].value
          : given['down-delay'].value
    const ticks = Math.trunc(delayMs / 1000 / rayDefaults.tickSeconds)
    return {
      answer:
        wanted === running
          ? `stays at ${plain(running)}`
          : `${plain(running)} → ${plain(wanted)} ${noun(wanted, 'replica')}${delayMs === 0 ? ', at once' : `, after ${timeText(delayMs)}`}`,
      results: {
        wanted: countFigure(wanted, 'replicas'),
        delay: seconds(delayMs),
        ticks: countFigure(ticks, 'ticks have to pass'),
      },
      working: [
        running === 0
          ? `${plain(ongoing.value)} ${noun(ongoing.value, 'request')} and no replica: ${plain(wanted)}`
          : `${plain(ongoing.value)} ÷ (${plain(target.value)} × ${plain(running)}) = ${plain(ongoing.value / target.value / running)} → ${plain(wanted)}, within ${plain(min)} to ${plain(max)}`,
        ...(delayMs === 0
          ? []
          : [
              `more than ${plain(ticks)} ${noun(ticks, 'tick')} of 0.1 s in a row; one that wants otherwise starts them again`,
            ]),
      ],
      assumptions: ['the mean over the look-back of 30 s is what is given here'],
      mistake: 'requests as the load of an engine: a long prompt counts like a short one',
      next: ['plimsoll calc hpa', 'plimsoll calc kpa'],
    }
  },
})
