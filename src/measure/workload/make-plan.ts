import { createHash } from 'node:crypto'
import { PlimsollError } from '../../base/errors.ts'
import { exponential, randomStream } from '../../base/random.ts'
import type { Warning } from '../../base/warnings.ts'
import { arrivalTimes, pacerEndMs } from '../load/arrivals.ts'
import { describePacer } from '../load/describe-pacer.ts'
import { checkPacer, isOpenLoop, type OpenLoopPacer, type Pacer } from '../load/pacer.ts'
import type { TokenCounter } from '../tokens/token-counter.ts'
import { apis } from '../wire/api.ts'
import type { RequestContent } from './content-maker.ts'
import { fillHeaders, type HeaderTemplate } from './header-template.ts'
import { contentMaker } from './request-content.ts'
import type { PlannedRequest } from './planned-request.ts'
import { turnPauseMs } from './session-content.ts'
import { templateWarnings } from './template-check.ts'
import { requestBody, type BodySettings } from './request-body.ts'
import { modelChooser, type WeightedModel } from './model-choice.ts'
import type { LoadedWorkload } from './workload.ts'

export interface PlanInput extends BodySettings {
  readonly workload: LoadedWorkload
  readonly pacer: Pacer
  /** The plan ends with the first of `count` requests and `durationMs`; a closed loop with a duration is never used up. */
  readonly count: number | null
  readonly durationMs: number | null
  /** All of the plan but the salt follows from it. */
  readonly seed: number | string
  /** Fresh for each run and each point of a sweep (`partSalt`), else caches are warm. Always recorded. */
  readonly salt: string
  /** Leave the salt away: the same prompts as in any run of this seed, and a warm cache where the server has seen them. */
  readonly warmPrefix: boolean
  readonly tokens: TokenCounter
  /** Longest prompt and answer together that the model takes, tokens; null: unknown. Longer prompts are cut, and counted. */
  readonly maxModelLen: number | null
  /** Models that the requests are spread over by weight (LoRA adapters among them), instead of the one of `model`. */
  readonly models?: readonly WeightedModel[]
  /** Requests that the client hangs up on. */
  readonly cancel?: Cancellation
  /** Headers that differ from request to request. */
  readonly headerTemplates?: readonly HeaderTemplate[]
}

/** A share of the requests, drawn from the seed, is given up so long after its intended send, whatever was answered by then. */
export interface Cancellation {
  readonly share: number
  readonly afterMs: number
}

/** The requests of a run. The same input gives the same plan, whoever sends it and with however many workers. */
export type Plan = OpenPlan | ClosedPlan

interface PlanFacts {
  /** The pacer's own equation. */
  readonly arrivals: string
  readonly seed: number | string
  /** Null where prompts are not salted. */
  readonly salt: string | null
  /** SHA-256 over all that decides the work but the salt: two runs with the same digest asked the same of their servers. */
  readonly digest: string
  /** Whether planned prompt lengths are the server's, and how that is known. */
  readonly lengths: { readonly exact: boolean; readonly basis: string }
  readonly warnings: readonly Warning[]
}

export interface OpenPlan extends PlanFacts {
  readonly kind: 'open'
  /** Requests of a session, where they come in sessions: all but the first of each have no time of their own. */
  readonly turns?: number
  /** The count, or the recording, ended it before the duration did. */
  readonly usedUp?: boolean
  /** In the order of their intended sends; sessions in the order of their first. */
  readonly requests: readonly PlannedRequest[]
}

export interface ClosedPlan extends PlanFacts {
  readonly kind: 'closed'
  readonly users: number
  /** Requests of a session, which a user sends one after another; default 1. */
  readonly turns?: number
  /** Null: as many as the duration lets through. */
  readonly count: number | null
  readonly staggerMs: number
  /** Request `index` (0, 1, 2, …), a pure function of it. */
  readonly requestAt: (index: number) => PlannedRequest
}

/** More than this is a mistake of units, not a plan: bodies are made before the run. */
const mostRequests = 5_000_000

/**
 * Plans a run: when each request is sent and its exact body.
 * @throws PlimsollError PLIM_USAGE for a pacer or an end that cannot be, PLIM_WORKLOAD for prompts that cannot be made.
 */
export function makePlan(input: PlanInput): Plan {
  const { pacer, tokens, seed } = input
  checkPacer(pacer)
  checkEnd(input)
  const content = contentMaker(input)
  const sessions = input.workload.kind === 'sessions' ? input.workload : null
  const turns = sessions?.turns ?? 1
  const modelAt = modelChooser(input)
  const facts = {
    arrivals: describePacer(pacer),
    seed,
    salt: input.warmPrefix ? null : input.salt,
    digest: digestOf(input),
    lengths: { exact: tokens.exact && content.countsPrompts, basis: tokens.basis },
  }
  if (isOpenLoop(pacer)) {
    const requests = plannedStarts(input, plannedTimes(input, pacer, content.once), turns).map(
      (plannedMs, index) => {
        const make = (): PlannedRequest =>
          planned(input, content.at(index), modelAt(index), {
            index,
            plannedMs,
            thinkTimeMs: sessions === null ? 0 : turnPauseMs(sessions, seed, index),
          })
        return input.workload.kind === 'trace' ? withoutBody(make(), make) : make()
      },
    )
    return {
      kind: 'open',
      requests,
      ...(turns === 1 ? {} : { turns }),
      ...(endsEarly(input, pacer, requests.length) && { usedUp: true }),
      ...facts,
      warnings: [...tokens.warnings, ...content.warnings(requests.length), ...templateWarnings(input)],
    }
  }
  return {
    kind: 'closed',
    users: pacer.users,
    ...(turns === 1 ? {} : { turns }),
    count: input.count ?? (input.durationMs === null ? content.once : null),
    staggerMs: pacer.staggerMs ?? 0,
    requestAt: (index) =>
      planned(input, content.at(index), modelAt(index), {
        index,
        plannedMs: null,
        thinkTimeMs:
          index % turns === 0 ? thinkTime(pacer, seed, index, turns) : turnPauseMs(sessions!, seed, index),
      }),
    ...facts,
    warnings: [...tokens.warnings, ...content.warnings(input.count ?? sampled), ...templateWarnings(input)],
  }
}

/** Requests of an endless plan that are looked at for warnings. */
const sampled = 1000

function planned(
  input: PlanInput,
  content: RequestContent,
  model: string | null,
  when: Pick<PlannedRequest, 'index' | 'plannedMs' | 'thinkTimeMs'>,
): PlannedRequest {
  const settings =
    model === null && content.extraBody === undefined
      ? input
      : {
          ...input,
          model: model ?? input.model,
          extraBody: { ...content.extraBody, ...input.extraBody },
        }
  const names = {
    segment: model === null ? content.segment : (content.segment ?? model),
    session: content.session,
    turn: content.turn ?? null,
  }
  const { template, headerTemplates = [] } = input
  const isPlain = template === undefined && headerTemplates.length === 0
  const facts = { ...names, id: content.promptId, index: when.index, row: content.row ?? null }
  const { outputTokens } = content
  return {
    ...when,
    body: requestBody(settings, content.prompt, outputTokens, ...(isPlain ? [] : [facts])),
    ...(headerTemplates.length > 0 && {
      headers: fillHeaders(headerTemplates, { ...facts, model: settings.model, outputTokens }),
    }),
    ...hangUp(input, when.index),
    promptId: content.promptId,
    ...names,
    askedOutputTokens: apis[input.api].generates ? content.outputTokens : null,
    plannedPromptTokens: content.promptTokens,
  }
}

/**
 * The request with its body made when it is asked for, and not kept: those of a large trace would not fit the heap. What is asked of
 * it is a pure function, so it is always the same.
 */
function withoutBody(request: PlannedRequest, make: () => PlannedRequest): PlannedRequest {
  const { body: _made, ...rest } = request
  return {
    ...rest,
    get body() {
      return make().body
    },
  }
}

/** Only where the run cancels: other plans are as they always were. */
function hangUp({ cancel, seed }: PlanInput, index: number): Pick<PlannedRequest, 'cancelAfterMs'> {
  if (cancel === undefined || randomStream(seed, 'cancel', index).next() >= cancel.share) return {}
  return { cancelAfterMs: cancel.afterMs }
}

/** The intended sends: while `count` and `durationMs` last, and no longer than the pacer or, failing all, the file once through. */
function plannedTimes(input: PlanInput, pacer: OpenLoopPacer, once: number | null): readonly number[] {
  const { durationMs, seed } = input
  const endless = pacerEndMs(pacer) === null && durationMs === null
  const count = input.count ?? (endless ? once : null) ?? Number.POSITIVE_INFINITY
  const times: number[] = []
  for (const time of arrivalTimes(pacer, randomStream(seed, 'arrivals'))) {
    if (times.length >= count || (durationMs !== null && time >= durationMs)) break
    times.push(time)
    if (times.length > mostRequests) throw tooMany(input)
  }
  return times
}

/** Whether a count or a recording that is over ends the plan, where a duration was given too. */
function endsEarly({ count, durationMs }: PlanInput, pacer: OpenLoopPacer, requests: number): boolean {
  if (durationMs === null) return false
  const recorded = pacer.kind === 'schedule' && (pacerEndMs(pacer) ?? 0) < durationMs
  return recorded || (count !== null && requests >= count)
}

/** A pacer says when sessions begin; `count` is of requests, so the last session may be cut short. */
function plannedStarts(
  { count }: PlanInput,
  times: readonly number[],
  turns: number,
): readonly (number | null)[] {
  if (turns === 1) return times
  const all = Math.min(times.length * turns, count ?? Number.POSITIVE_INFINITY)
  return Array.from({ length: all }, (_, index) => (index % turns === 0 ? times[index / turns]! : null))
}

/** First requests of the users do not think: their stagger is the plan's. */
function thinkTime(
  pacer: Extract<Pacer, { kind: 'concurrency' }>,
  seed: number | string,
  index: number,
  turns: number,
): number {
  if (index < pacer.users * turns) return 0
  if (pacer.thinkTime !== 'exponential') return pacer.thinkTimeMs
  return pacer.thinkTimeMs * exponential(randomStream(seed, 'think', index))
}

function checkEnd(input: PlanInput): void {
  const { count, durationMs, pacer, workload } = input
  if (count !== null && !(Number.isSafeInteger(count) && count >= 1)) {
    throw new PlimsollError('PLIM_USAGE', 'the number of requests cannot be planned', {
      expected: 'a whole number of 1 or more',
      received: String(count),
    })
  }
  if (count !== null && count > mostRequests) throw tooMany(input)
  if (durationMs !== null && !(durationMs > 0)) {
    throw new PlimsollError('PLIM_USAGE', 'the duration cannot be planned', {
      expected: 'more than 0 ms',
      received: String(durationMs),
    })
  }
  const made = ['random', 'mix', 'sessions'].includes(workload.kind)
  const endless = count === null && durationMs === null && made
  if (endless && !(isOpenLoop(pacer) && pacerEndMs(pacer) !== null)) {
    throw new PlimsollError('PLIM_USAGE', 'the run would never end', {
      expected: 'a number of requests or a duration',
      received: 'neither',
      hint: '--num-prompts 1000, or --duration 60s',
    })
  }
}

function tooMany({ pacer, durationMs, count }: PlanInput): PlimsollError {
  return new PlimsollError(
    'PLIM_USAGE',
    `the plan has more than ${mostRequests.toLocaleString('en-US')} requests`,
    {
      expected: 'a lower rate or a shorter run: bodies are made before it',
      received: `${describePacer(pacer)}; ${count ?? 'any number of'} requests, ${durationMs === null ? 'no duration' : `${durationMs} ms`}`,
    },
  )
}

function digestOf(input: PlanInput): string {
  const { salt: _salt, tokens, maxModelLen: _maxModelLen, ...rest } = input
  const decides = { ...rest, seed: String(input.seed), words: tokens.words }
  return createHash('sha256').update(JSON.stringify(decides)).digest('hex')
}
