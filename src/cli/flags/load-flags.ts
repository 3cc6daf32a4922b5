import type { FlagSpecs } from '../verb.ts'

const group = 'When to send'

/** When requests are sent: of `run`; a sweep chooses its own. */
export const loadFlags: FlagSpecs = {
  'request-rate': {
    kind: 'text',
    group,
    brief: 'Requests per second, open loop, Poisson (6, 6/s, 90/min); inf sends all at once',
    placeholder: 'RATE',
    aliases: ['rate', 'qps', 'target-qps'],
    letter: 'r',
    default: '5/s',
  },
  burstiness: {
    kind: 'text',
    group,
    brief: 'Shape of gamma gaps: 1 is Poisson, under 1 bursty (cv = 1 ÷ √shape)',
    placeholder: 'X',
  },
  concurrency: {
    kind: 'text',
    group,
    brief: 'Users of a closed loop; beside a rate a limit on connections, and waiting for one is lag',
    placeholder: 'N',
    aliases: ['max-concurrency', 'num-concurrency'],
    letter: 'c',
  },
  pacer: {
    kind: 'text',
    group,
    brief:
      '"ramp 1/s..10/s over 60s", "steps 1/s for 30s, 2/s for 30s", "burst 10 every 5s", "gamma 6/s cv 2", "constant 6/s", "users 8 think 1s"',
    placeholder: 'TEXT',
  },
  'num-prompts': {
    kind: 'text',
    group,
    brief: 'Requests to send',
    placeholder: 'N',
    aliases: ['num-requests', 'max-requests', 'request-count'],
    letter: 'n',
  },
  duration: {
    kind: 'text',
    group,
    brief: 'How long to measure; with --num-prompts the first of both ends it',
    placeholder: 'TIME',
    aliases: ['measure', 'benchmark-duration'],
    letter: 'd',
    default: '60s',
  },
  'max-duration': {
    kind: 'text',
    group,
    brief: 'Never measure longer than this, all points together, whatever else says how long',
    placeholder: 'TIME',
    aliases: ['max-seconds'],
  },
  repeat: {
    kind: 'text',
    group,
    brief: 'So many runs as one experiment, each with its own seed and salt; intervals are over runs',
    placeholder: 'N',
    default: '1',
    aliases: ['num-runs', 'num-profile-runs'],
  },
  warmup: {
    kind: 'text',
    group,
    brief: 'Sent before the window and left out of it; auto finds its end',
    placeholder: 'TIME',
    aliases: ['warmup-duration'],
    default: '0',
  },
  drain: {
    kind: 'text',
    group,
    brief: 'How long to wait for the last answers; later ones are counted as cut',
    placeholder: 'TIME',
    default: '60s',
  },
}
