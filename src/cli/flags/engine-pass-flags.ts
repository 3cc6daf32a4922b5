import type { FlagSpecs } from '../verb.ts'

const group = 'The embedded engine (without --url)'

/** How `run` and `sweep` speak to the engine that they start. */
export const enginePassFlags: FlagSpecs = {
  engine: {
    kind: 'list',
    group,
    brief:
      'A setting of the engine; --engine-max-num-seqs 64 says the same (plimsoll engine --help lists them)',
    placeholder: 'NAME=VALUE',
  },
  fault: {
    kind: 'list',
    group,
    brief: 'Something that goes wrong: "stall 3s at 10s", "503 5%", "kv -20% at 30s"; may be repeated',
    placeholder: 'TEXT',
  },
}
