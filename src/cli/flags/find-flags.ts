import type { FlagSpecs } from '../verb.ts'

const group = 'What to find'

export const findFlags: FlagSpecs = {
  'rate-from': {
    kind: 'text',
    group,
    brief: 'The first rate; it is doubled or halved until one holds and one fails',
    placeholder: 'RATE',
    default: 'half of what short closed loops get',
  },
  resolution: {
    kind: 'text',
    group,
    brief: 'How far the failing rate may be above the holding one',
    placeholder: 'SHARE',
    default: '5%',
  },
  points: {
    kind: 'text',
    group,
    brief: 'At most this many rates; the error is spent over them',
    placeholder: 'N',
    default: '10 for 5%',
  },
  'duration-per-point': {
    kind: 'text',
    group,
    brief: 'A rate is never measured longer; undecided by then, it widens the interval',
    placeholder: 'TIME',
    aliases: ['duration'],
    letter: 'd',
    default: 'what the last look needs',
  },
}
