import type { FlagSpecs } from '../verb.ts'

const group = 'Output'

/** Where a run is kept. */
export const folderFlags: FlagSpecs = {
  name: {
    kind: 'text',
    group,
    brief: 'Name of the run, in its folder',
    placeholder: 'NAME',
    aliases: ['label'],
  },
  'runs-dir': {
    kind: 'text',
    group,
    brief: 'Where run folders are made',
    placeholder: 'DIR',
    aliases: ['result-dir', 'artifact-dir'],
    default: 'runs',
  },
  out: {
    kind: 'text',
    group,
    brief: 'Exactly this run folder',
    placeholder: 'DIR',
    aliases: ['output-dir'],
    letter: 'o',
  },
  tag: {
    kind: 'list',
    manyValues: true,
    group,
    brief: 'Pairs kept with the run and shown with it; compare lists those that differ',
    placeholder: 'KEY=VALUE',
    aliases: ['metadata'],
  },
}

/** What is printed. */
export const outputFlags: FlagSpecs = {
  json: { kind: 'switch', group, brief: 'One JSON document on stdout' },
  explain: {
    kind: 'switch',
    group,
    brief: 'Show the formula, the numbers and the result of each headline figure',
  },
  quiet: {
    kind: 'switch',
    group,
    brief: 'Nothing on stderr but errors and what was not done as asked',
    letter: 'q',
  },
  progress: { kind: 'switch', group, brief: 'Progress on stderr (--no-progress turns it off)' },
}

export const configFlags: FlagSpecs = {
  config: {
    kind: 'text',
    group,
    brief: 'plimsoll.yaml to read; flags win over it',
    placeholder: 'FILE',
    letter: 'f',
    default: './plimsoll.yaml if it is there',
  },
}
