import type { FlagSpecs } from '../verb.ts'
import { loadFlags } from './load-flags.ts'
import { pickFlags } from './pick-flags.ts'

const group = 'What to sweep'

export const sweepFlags: FlagSpecs = {
  concurrency: {
    kind: 'text',
    group,
    brief: 'Users of closed loops: 1,2,4,8 or auto (doubling, then bisection around the SLO wall)',
    placeholder: 'LIST',
    aliases: ['max-concurrency', 'sweep-max-concurrency'],
    letter: 'c',
    default: 'auto',
  },
  rates: {
    kind: 'text',
    group,
    brief: 'Requests per second of open loops instead: 1,2,4 or auto',
    placeholder: 'LIST',
    aliases: ['request-rate', 'sweep-request-rate'],
    letter: 'r',
  },
  points: {
    kind: 'text',
    group,
    brief: 'At most this many points with auto',
    placeholder: 'N',
    default: '12',
    idle: 'the loads that are given are all tried',
  },
  'duration-per-point': {
    kind: 'text',
    group,
    brief: 'How long each point is measured; a point ends early once it is decided',
    placeholder: 'TIME',
    aliases: ['duration'],
    letter: 'd',
    default: "what the objective's percentile needs",
  },
  confirm: {
    kind: 'switch',
    group,
    brief: 'Confirm the operating point by a Poisson run (--no-confirm leaves it out)',
  },
  'confirm-duration': {
    kind: 'text',
    group,
    brief: 'How long that run measures',
    placeholder: 'TIME',
    idle: 'nothing is confirmed with --no-confirm',
  },
  resume: { kind: 'text', group, brief: 'Go on with a sweep that was ended: its folder', placeholder: 'DIR' },
}

/** What of a run's load a sweep or a search takes for each of its points. */
export const pointFlags: FlagSpecs = {
  ...pickFlags(loadFlags, ['max-duration', 'drain']),
  warmup: { ...loadFlags['warmup']!, default: 'about two answers' },
}
