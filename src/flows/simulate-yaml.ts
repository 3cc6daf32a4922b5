import * as v from 'valibot'
import { LineCounter, parseDocument, isMap, isPair, type Document, type Node } from 'yaml'
import { PlimsollError, type TextPosition } from '../base/errors.ts'
import { nearest } from '../base/edit-distance.ts'
import { schedulingPolicies } from '../simulate/engine/engine-config.ts'
import type { FleetText } from './simulate-text.ts'

const quantity = v.union([v.string(), v.number()])
const length = v.union([v.string(), v.number()])

const engine = v.union([
  v.string(),
  v.strictObject({
    preset: v.exactOptional(v.string()),
    model: v.exactOptional(v.string()),
    max_num_seqs: v.exactOptional(v.number()),
    max_num_batched_tokens: v.exactOptional(v.number()),
    long_prefill_token_threshold: v.exactOptional(v.number()),
    max_model_len: v.exactOptional(v.number()),
    block_size: v.exactOptional(v.number()),
    num_gpu_blocks: v.exactOptional(v.number()),
    max_num_waiting: v.exactOptional(v.number()),
    policy: v.exactOptional(v.picklist(schedulingPolicies)),
    speculative: v.exactOptional(v.number()),
    accept: v.exactOptional(v.union([v.number(), v.array(v.number())])),
    async_scheduling: v.exactOptional(v.boolean()),
    mixed_chunk: v.exactOptional(v.boolean()),
    host_ms: v.exactOptional(v.number()),
    enable_prefix_caching: v.exactOptional(v.boolean()),
    enable_chunked_prefill: v.exactOptional(v.boolean()),
    front_end_ms: v.exactOptional(v.number()),
    jitter_sigma: v.exactOptional(v.number()),
    base_ms: v.exactOptional(v.number()),
    knee_tokens: v.exactOptional(v.number()),
    per_token_ms: v.exactOptional(v.number()),
    per_context_token_ms: v.exactOptional(v.number()),
    per_pair_ms: v.exactOptional(v.number()),
    per_sequence_ms: v.exactOptional(v.number()),
  }),
])

const coldStart = v.union([quantity, v.strictObject({ median: quantity, p99: quantity })])

const parts = {
  name: v.exactOptional(v.string()),
  seed: v.exactOptional(quantity),
  duration: v.exactOptional(quantity),
  drain: v.exactOptional(quantity),
  window: v.exactOptional(quantity),
  replicas: v.exactOptional(v.number()),
  engine: v.exactOptional(engine),
  cost_per_hour: v.exactOptional(v.number()),
  groups: v.exactOptional(
    v.array(
      v.strictObject({
        name: v.exactOptional(v.string()),
        replicas: v.number(),
        engine,
        cost_per_hour: v.exactOptional(v.number()),
      }),
    ),
  ),
  traffic: v.exactOptional(
    v.strictObject({
      arrivals: v.exactOptional(v.string()),
      prompt: v.exactOptional(length),
      output: v.exactOptional(length),
      sharing: v.exactOptional(v.strictObject({ groups: v.number(), tokens: v.number() })),
      trace: v.exactOptional(v.string()),
      speed: v.exactOptional(v.number()),
      repeat: v.exactOptional(v.boolean()),
    }),
  ),
  router: v.exactOptional(
    v.union([v.string(), v.strictObject({ kind: v.string(), signal_every: v.exactOptional(quantity) })]),
  ),
  scaler: v.exactOptional(
    v.nullable(
      v.strictObject({
        metric: v.exactOptional(v.string()),
        target: v.exactOptional(quantity),
        min: v.exactOptional(v.number()),
        max: v.exactOptional(v.number()),
        tolerance: v.exactOptional(quantity),
        sync: v.exactOptional(quantity),
        scrape: v.exactOptional(quantity),
        delay: v.exactOptional(quantity),
        up_stabilization: v.exactOptional(quantity),
        down_stabilization: v.exactOptional(quantity),
        cold_start: v.exactOptional(coldStart),
        warm_pool: v.exactOptional(
          v.nullable(
            v.strictObject({ replicas: v.exactOptional(v.number()), ready: v.exactOptional(quantity) }),
          ),
        ),
      }),
    ),
  ),
  admission: v.exactOptional(
    v.strictObject({
      in_flight_per_replica: v.exactOptional(v.number()),
      queue: v.exactOptional(v.number()),
      queue_timeout: v.exactOptional(quantity),
    }),
  ),
  clients: v.exactOptional(
    v.strictObject({
      timeout: v.exactOptional(quantity),
      retries: v.exactOptional(v.number()),
      backoff: v.exactOptional(quantity),
    }),
  ),
  faults: v.exactOptional(v.array(v.string())),
  objective: v.exactOptional(v.string()),
}

const policy = v.strictObject(parts)
const fleetFile = v.strictObject({ ...parts, policies: v.exactOptional(v.record(v.string(), policy)) })

/** The file as it is written, its shape checked; texts such as `10/s` are read in simulate-spec.ts. */
export interface FleetFile {
  readonly text: FleetText
  /** Where the value of a path stands. */
  readonly where: (path: readonly (string | number)[]) => TextPosition
}

/** @throws PlimsollError PLIM_CONFIG with file, line and column, and for a misspelt key the nearest right one. */
export function readFleetFile(content: string, file: string): FleetFile {
  const lines = new LineCounter()
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const at = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  const [broken] = document.errors
  if (broken !== undefined) {
    throw new PlimsollError('PLIM_CONFIG', 'this is not YAML', {
      received: broken.message,
      where: at(broken.pos[0]),
    })
  }
  const where = (path: readonly (string | number)[]): TextPosition => {
    const offset = offsetOf(document, path)
    return offset === null ? { file } : at(offset)
  }
  const result = v.safeParse(fleetFile, document.toJS() ?? {}, { abortEarly: true })
  if (result.success) {
    const text: FleetText = result.output
    return { text, where }
  }
  const [issue] = result.issues
  const path = (issue.path ?? []).map((item) => item.key as string | number)
  const dotted = path.join('.')
  if (issue.expected === 'never') {
    const known = knownBeside(path)
    const near = nearest(String(path.at(-1)), known)
    throw new PlimsollError('PLIM_CONFIG', `unknown key ${dotted}`, {
      expected: known.join(', '),
      where: where(path),
      ...(near === null ? {} : { hint: `did you mean ${near}?` }),
    })
  }
  throw new PlimsollError('PLIM_CONFIG', `${dotted === '' ? 'the file' : dotted} cannot be this`, {
    ...(issue.expected === null ? {} : { expected: issue.expected.replace('Object', 'a map') }),
    received: (JSON.stringify(issue.input) ?? 'nothing').slice(0, 60),
    where: where(path),
  })
}

interface SchemaNode {
  readonly entries?: Readonly<Record<string, SchemaNode>>
  readonly wrapped?: SchemaNode
  readonly value?: SchemaNode
  readonly item?: SchemaNode
  readonly options?: readonly SchemaNode[]
}

/** The keys that may stand where the last of the path stands. */
function knownBeside(path: readonly (string | number)[]): string[] {
  let nodes: SchemaNode[] = [fleetFile as SchemaNode]
  const opened = (node: SchemaNode): SchemaNode[] =>
    node.wrapped !== undefined ? opened(node.wrapped) : (node.options?.flatMap(opened) ?? [node])
  for (const key of path.slice(0, -1)) {
    nodes = nodes.flatMap(opened).flatMap((node) => node.entries?.[key] ?? node.value ?? node.item ?? [])
  }
  return nodes.flatMap(opened).flatMap((node) => Object.keys(node.entries ?? {}))
}

/** Where the value of a path begins, or its key; the nearest enclosing node where there is none. */
function offsetOf(document: Document, path: readonly (string | number)[]): number | null {
  for (let end = path.length; end > 0; end--) {
    const parent = end === 1 ? document.contents : document.getIn(path.slice(0, end - 1), true)
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(path[end - 1]))
      const start = (pair?.key as Node | undefined)?.range?.[0]
      if (start !== undefined) return start
    }
    const start = (document.getIn(path.slice(0, end), true) as Node | undefined)?.range?.[0]
    if (start !== undefined) return start
  }
  return document.contents?.range?.[0] ?? null
}
