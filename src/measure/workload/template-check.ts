import { PlimsollError } from '../../base/errors.ts'
import type { Warning } from '../../base/warnings.ts'
import { isSecretName } from '../record/redact.ts'
import { type ApiKind, apis } from '../wire/api.ts'
import { asksFor, type BodyTemplate, checkBodyNames } from './body-template.ts'
import { checkHeaderFields, fillHeaders, type HeaderTemplate } from './header-template.ts'
import { namesOf, type RequestFacts } from './placeholder.ts'
import type { RowUse } from './read-jsonl.ts'
import type { PromptItem } from './prompt-item.ts'
import type { LoadedWorkload } from './workload.ts'

/** What of a request is made from templates. */
export interface RequestTemplates {
  readonly body: BodyTemplate | null
  readonly headers: readonly HeaderTemplate[]
}

/** What of the lines the templates need. */
export function rowUse({ body, headers }: RequestTemplates): RowUse {
  if (body !== null && !sendsPrompt(body)) return 'promptless'
  const named = headers.some(({ pieces }) => namesOf(pieces).some((name) => name.startsWith('row')))
  return named || (body !== null && asksFor(body, 'row')) ? 'kept' : 'left'
}

function sendsPrompt(body: BodyTemplate): boolean {
  return asksFor(body, 'prompt', 'messages', 'body')
}

/**
 * Holds the templates against what they will be filled with, before anything is sent.
 * @throws PlimsollError PLIM_WORKLOAD or PLIM_USAGE for names that stand for nothing, prompts of another form, and headers that
 * cannot be sent.
 */
export function checkTemplates(
  { body, headers }: RequestTemplates,
  workload: LoadedWorkload,
  { api, path }: { readonly api: ApiKind; readonly path: string },
): void {
  const items = itemsOf(workload)
  const rows = items.flatMap(({ row }) => (row === undefined ? [] : [row]))
  const fields = rows.length === 0 ? null : new Set(rows.flatMap((row) => Object.keys(row)))
  if (body !== null) {
    checkBodyNames(body, path, fields)
    const messages = items.find(({ prompt }) => prompt.kind === 'messages')
    const inSessions = workload.kind === 'sessions' && !apis[api].textOnly && api === 'chat'
    if (asksFor(body, 'prompt') && (messages !== undefined || inSessions)) {
      throw new PlimsollError('PLIM_WORKLOAD', 'the body template takes one text, and prompts are messages', {
        expected: '{{messages}} in the template',
        received: messages === undefined ? 'sessions, which are messages' : `messages (${messages.id})`,
        where: { file: path },
      })
    }
  }
  for (const header of headers) checkHeaderFields(header, fields)
  for (const item of items) fillHeaders(headers, factsOf(item))
}

/** Values that a header of a secret's name, or a field of one, has in the rows: they are kept out of what is written. */
export function secretsOfRows(
  headers: readonly HeaderTemplate[],
  workload: LoadedWorkload,
): readonly string[] {
  const secret = headers.filter(
    ({ name, pieces }) =>
      isSecretName(name) || namesOf(pieces).some((one) => isSecretName(one.replace(/^.*\./, ''))),
  )
  if (secret.length === 0) return []
  const found = new Set<string>()
  for (const item of itemsOf(workload)) {
    for (const value of Object.values(fillHeaders(secret, factsOf(item)))) {
      // The word in front of a credential (`Bearer`) is none.
      found.add(value).add(value.slice(value.lastIndexOf(' ') + 1))
      if (found.size > mostSecrets)
        throw new PlimsollError('PLIM_WORKLOAD', 'the rows hold too many different credentials', {
          expected: `at most ${mostSecrets / 2} values of header ${secret[0]!.name}`,
          received: 'more',
        })
    }
  }
  return [...found]
}

/** Each is looked for in everything that is written. */
const mostSecrets = 2000

/** The facts of the first request, for the questions that are asked before the run. */
export function sampleFacts(workload: LoadedWorkload): Omit<RequestFacts, 'model' | 'outputTokens'> {
  const [first] = itemsOf(workload)
  const facts = first === undefined ? null : factsOf(first)
  const segment = workload.kind === 'mix' ? (workload.classes[0]?.name ?? null) : (facts?.segment ?? null)
  return { id: facts?.id ?? null, index: 0, segment, session: null, turn: null, row: facts?.row ?? null }
}

function factsOf({ id, segment, row }: PromptItem): RequestFacts {
  return {
    id,
    index: 0,
    model: '',
    outputTokens: null,
    segment,
    session: null,
    turn: null,
    row: row ?? null,
  }
}

function itemsOf(workload: LoadedWorkload): readonly PromptItem[] {
  if (workload.kind === 'mix') return workload.classes.flatMap((one) => itemsOf(one.workload))
  return workload.kind === 'items' ? workload.items : []
}

/** A template that leaves away what the workload asks for: lengths are then not as asked, and the plan cannot know it. */
export function templateWarnings({
  template,
  workload,
}: {
  readonly template?: BodyTemplate
  readonly workload: LoadedWorkload
}): readonly Warning[] {
  if (template === undefined || asksFor(template, 'body')) return []
  const made = !['items', 'mix'].includes(workload.kind)
  const lacks = [
    ...(made && !sendsPrompt(template) ? ['{{prompt}}'] : []),
    ...(made && !asksFor(template, 'max_tokens') ? ['{{max_tokens}}'] : []),
  ]
  if (lacks.length === 0) return []
  return [
    {
      kind: 'lengths_not_as_asked',
      message: `the body template has no ${lacks.join(' and no ')}: ${lacks.length > 1 ? 'prompts and answers' : lacks[0] === '{{prompt}}' ? 'prompts' : 'answers'} are not as long as asked`,
      cause: 'a template is the whole body, and nothing is added to it',
      next: `put ${lacks.join(' and ')} where the server reads it`,
      evidence: { lacks: lacks.join(' ') },
    },
  ]
}
