import { PlimsollError } from '../../base/errors.ts'
import type { TokenSources } from '../tokens/learn-tokens.ts'
import { apis } from '../wire/api.ts'
import { requestBody } from '../workload/request-body.ts'
import { countByServer, type Preflight } from './preflight.ts'
import { isFailure, type PreflightTarget, type SendOnce } from './probe.ts'

/**
 * Whom to ask about prompt lengths on a server that answered the preflight; for `learnTokens`. Usage is asked for without a
 * stream, where every OpenAI-compatible server sends it.
 */
export function tokenSources(
  sendOnce: SendOnce,
  target: PreflightTarget,
  preflight: Preflight,
): TokenSources {
  const { model, probe, dialect } = preflight
  return {
    probe,
    count: preflight.tokenize ? (text) => counted(sendOnce, target, model, text) : null,
    async usage(text) {
      // Its usage would come at an end that is not to be waited for.
      if (preflight.endless) return null
      if (target.custom !== undefined || (target.api !== 'chat' && target.api !== 'completions'))
        return usageOf(sendOnce, target, preflight, text)
      const asked = target.api === 'chat' ? { messages: [{ role: 'user', content: text }] } : { prompt: text }
      const limit = target.api === 'chat' ? dialect.outputLimit : 'max_tokens'
      const body = JSON.stringify({ model, ...asked, [limit]: 1, stream: false })
      const question = {
        method: 'POST',
        path: target.endpointPath,
        body,
        stream: false,
        needed: true,
      } as const
      const answer = await sendOnce(question)
      if (isFailure(answer) || answer.status !== 200) return null
      try {
        const { usage } = JSON.parse(answer.bodyText) as { usage?: { prompt_tokens?: unknown } | null }
        const tokens = usage?.prompt_tokens
        return Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : null
      } catch {
        return null
      }
    },
  }
}

/** By an answer of another API in one piece, read as the load's are. */
async function usageOf(
  sendOnce: SendOnce,
  target: PreflightTarget,
  { model, dialect }: Preflight,
  text: string,
): Promise<number | null> {
  const settings = {
    api: target.api,
    model,
    dialect,
    stream: false,
    ignoreEos: false,
    continuousUsage: false,
  }
  const { custom } = target
  const own = custom === undefined ? {} : { template: custom.template }
  const asked = { ...settings, ...own, temperature: null, extraBody: {} }
  const body = requestBody(asked, { kind: 'text', text }, 1, custom?.facts)
  const { path, wholePath } = apis[target.api]
  const whole = wholePath === undefined ? target.endpointPath : target.endpointPath.replace(path, wholePath)
  const question = { method: 'POST', path: whole, body, stream: false, answer: true, needed: true } as const
  const answer = await sendOnce(question)
  if (isFailure(answer) || answer.status !== 200) return null
  const tokens = answer.fields?.prompt_tokens ?? null
  return tokens !== null && tokens > 0 ? tokens : null
}

async function counted(
  sendOnce: SendOnce,
  target: PreflightTarget,
  model: string,
  text: string,
): Promise<number> {
  const tokens = await countByServer(sendOnce, target, model, text)
  if (tokens !== null) return tokens
  throw new PlimsollError('PLIM_PREFLIGHT', 'the server counted one text by /tokenize and not another', {
    expected: 'a count of tokens',
    received: `none for ${text.length} characters`,
    hint: 'run again; if it stays, its log says more',
  })
}
