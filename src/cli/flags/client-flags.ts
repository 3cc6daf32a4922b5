import type { FlagSpecs } from '../verb.ts'

const group = 'The client'

export const clientFlags: FlagSpecs = {
  workers: {
    kind: 'text',
    group,
    brief: 'Worker threads',
    placeholder: 'N',
    default: 'one per core but one',
  },
  'timeout-connect': { kind: 'text', group, brief: 'To connect', placeholder: 'TIME', default: '10s' },
  'timeout-first-token': {
    kind: 'text',
    group,
    brief: 'To the first token; none for no limit',
    placeholder: 'TIME',
    default: '2m',
  },
  'timeout-idle': {
    kind: 'text',
    group,
    brief: 'Between tokens; none for no limit',
    placeholder: 'TIME',
    default: '2m',
  },
  'timeout-total': {
    kind: 'text',
    group,
    brief: 'For the whole answer',
    placeholder: 'TIME',
    default: 'none',
  },
  'keep-text': { kind: 'switch', group, brief: 'Keep the answers on the rows' },
  yes: { kind: 'switch', group, brief: 'Do not ask before a remote server is loaded', letter: 'y' },
}
