import { nearest } from '../../base/edit-distance.ts'
import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import { shellWord } from '../../base/shell-words.ts'
import { formatBytes, formatSpan } from '../../base/format.ts'
import { apis } from '../wire/api.ts'
import { parseAddress, splitSocket } from '../wire/target-url.ts'
import { fromEndpoint, pathAdvice, refusedByStatus, said } from './preflight-status.ts'
import {
  errorText,
  pathsBeside,
  timesTried,
  type NoAnswer,
  type PreflightTarget,
  type ProbeAnswer,
  type ProbeRequest,
} from './probe.ts'

/**
 * The sentence for a server that did not answer at all, from the transport's kind and message.
 * @param asked what it was asked: a server that takes the connection may answer one path and hang on another
 */
export function unreachable(
  failure: NoAnswer,
  target: PreflightTarget,
  asked: Pick<ProbeRequest, 'method' | 'path'>,
): PlimsollError {
  const { url } = target
  if (failure.heard !== undefined) return brokeOff({ ...failure, heard: failure.heard }, target, asked)
  if (silences.has(failure.kind)) return silent(failure, target, asked)
  if (failure.kind === 'tls') {
    if (/wrong version number|packet length too long/i.test(failure.message)) {
      return new PlimsollError('PLIM_TLS', `${hostOf(url)} does not speak TLS`, {
        expected: 'an answer in TLS, as https:// says',
        received: 'something else',
        hint: `does it speak plain HTTP?  ${url.replace(/^https:/i, 'http:')}`,
      })
    }
    return new PlimsollError('PLIM_TLS', `no trusted connection to ${url}`, {
      expected: 'a certificate that a known authority signed',
      received: failure.message,
      hint: '--ca FILE names the authority; --insecure does not verify; a server without TLS is http://',
    })
  }
  if (failure.kind === 'dns') {
    return new PlimsollError('PLIM_CONNECT', `no address is known for ${hostOf(url)}`, {
      received: failure.message,
      hint: 'is the name right, and known to this machine?',
    })
  }
  if (cutOff.has(failure.kind)) {
    return new PlimsollError(
      'PLIM_CONNECT',
      `${hostOf(url)} takes the connection but gives no whole HTTP answer`,
      {
        expected: 'an HTTP answer to its end',
        received: failure.message,
        hint: /^https:/i.test(url)
          ? 'is this the port of the inference server, and does it speak TLS? if not, it is http://'
          : 'is this the port of the inference server, and does it speak plain HTTP? a port with TLS is https://',
      },
    )
  }
  const { socketPath } = splitSocket(url)
  if (socketPath !== null) return silentSocket(socketPath, failure)
  const addresses = addressesIn(failure.message)
  const tried = addresses.length > 0 ? addresses : [hostOf(url)]
  return new PlimsollError(
    'PLIM_CONNECT',
    `nothing answers at ${tried.join(' or ')} (${whyNot(failure.kind)}${tried.length > 1 ? ` on ${tried.length === 2 ? 'both' : 'all'}` : ''})`,
    {
      ...(addresses.length === 0 && { received: failure.message }),
      hint: `is the server up, and is this its address and port?  curl ${shellWord(modelsUrl(target))}      without a server: the same without --url loads the embedded engine`,
    },
  )
}

function silentSocket(path: string, failure: NoAnswer): PlimsollError {
  return new PlimsollError('PLIM_CONNECT', `nothing answers at the unix socket ${path}`, {
    received: failure.message,
    hint: `is the server up?  curl --unix-socket ${shellWord(path)} http://localhost/v1/models`,
  })
}

/** It is the right server, and it began to answer as it should. */
function brokeOff(
  { kind, message, heard, tried }: NoAnswer & { readonly heard: NonNullable<NoAnswer['heard']> },
  { url }: PreflightTarget,
  { method, path }: Pick<ProbeRequest, 'method' | 'path'>,
): PlimsollError {
  const { events, bytes } = heard
  const came = events === 0 ? formatBytes(bytes) : `${events} ${noun(events, 'event')}, ${formatBytes(bytes)}`
  return new PlimsollError(
    'PLIM_PREFLIGHT',
    `${hostOf(url)} answers ${method} ${path}, but the answer broke off after ${came}`,
    {
      expected: 'an answer to its end',
      received: `${message} (${kind})${timesTried(tried)}`,
      hint: 'the connection was closed inside the answer: did the engine crash, or does a proxy before it limit the time or size of answers? their logs say',
    },
  )
}

/** The connection stood, the question was sent, and the answer did not come. */
const silences: ReadonlySet<string> = new Set(['timeout_first_token', 'timeout_idle', 'timeout_total'])

function silent(
  { withinMs }: NoAnswer,
  { url }: PreflightTarget,
  { method, path }: Pick<ProbeRequest, 'method' | 'path'>,
): PlimsollError {
  const span = withinMs === undefined ? 'in time' : `within ${formatSpan(withinMs)}`
  return new PlimsollError(
    'PLIM_CONNECT',
    `${hostOf(url)} takes connections, but ${method} ${path} was not answered ${span}`,
    {
      expected: method === 'GET' ? 'a short answer' : 'a short answer before any load is sent',
      received: 'a connection, and then silence',
      hint: 'is its queue full, or does its engine hang or still load? its /metrics and the engine’s log say; --timeout-first-token and --timeout-total shorten the wait',
    },
  )
}

/** Something listens there: these come after the connection stood. */
const cutOff: ReadonlySet<string> = new Set(['truncated', 'protocol', 'stale_connection'])

/** `127.0.0.1:8001`, `[::1]:8001`: the addresses that Node's messages name, in their order, each once. */
function addressesIn(message: string): readonly string[] {
  const found = [...message.matchAll(/\b(?:E[A-Z]+|to) \[?([0-9a-fA-F:.]+)\]?:(\d+)\b/g)].map(
    ([, host = '', port]) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
  )
  return [...new Set(found)]
}

function whyNot(kind: string): string {
  const words: Readonly<Record<string, string>> = {
    connection_refused: 'connection refused',
    timeout_connect: 'no connection in time',
    connection_reset: 'connection reset',
  }
  return words[kind] ?? kind.replaceAll('_', ' ')
}

function hostOf(url: string): string {
  return url.replace(/^[a-z]+:\/\//i, '').replace(/[/?#].*$/, '')
}

function modelsUrl({ url, endpointPath }: PreflightTarget): string {
  return new URL(pathsBeside(endpointPath).models, parseAddress(url)).href
}

export function wrongPath(
  answer: ProbeAnswer,
  target: PreflightTarget,
  known: readonly string[],
): PlimsollError {
  return new PlimsollError(
    'PLIM_NOT_FOUND',
    `there is no ${target.endpointPath} at ${target.url} (${answer.status})${fromEndpoint(target)}`,
    {
      expected: `a server that serves ${apis[target.api].words} there`,
      received: errorText(answer.bodyText) ?? `status ${answer.status} without a message`,
      hint:
        target.typedEndpoint !== undefined
          ? pathAdvice(target)
          : known.length > 0
            ? `the server lists its models, so the address is right: try --api ${target.api === 'chat' ? 'completions' : 'chat'}, or --endpoint PATH`
            : pathAdvice(target),
    },
  )
}

/** A 404 about a model that the server lists: the name is right, so it is what was asked of it that is not there. */
export function listedModelNotFound(
  model: string,
  answer: ProbeAnswer,
  target: PreflightTarget,
): PlimsollError {
  const { models } = pathsBeside(target.endpointPath)
  return new PlimsollError(
    'PLIM_NOT_FOUND',
    `${models} lists the model ${model}, and POST ${target.endpointPath} answers ${answer.status} for it${fromEndpoint(target)}`,
    {
      expected: `an answer of ${apis[target.api].words} by the model that is listed`,
      received: said(answer),
      hint:
        target.typedEndpoint !== undefined
          ? pathAdvice(target)
          : `does the model serve another API or path? --api ${target.api === 'chat' ? 'completions' : 'chat'}, or --endpoint PATH; behind a router, is a worker up that has it?`,
    },
  )
}

export function unknownModel(
  model: string,
  known: readonly string[],
  received: string | null,
): PlimsollError {
  const near = nearest(model, known, { most: Math.max(2, Math.ceil(model.length / 3)), shortAfter: '/' })
  return new PlimsollError('PLIM_NOT_FOUND', `the server has no model ${model}`, {
    expected: known.length === 0 ? 'a model that the server knows' : `one of ${listed(known)}`,
    received: received ?? model,
    hint: near === null ? 'leave --model away to take the server’s own' : `did you mean --model ${near}?`,
  })
}

function listed(names: readonly string[]): string {
  return names.length <= 8 ? names.join(', ') : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`
}

export function notAnLlmServer(target: PreflightTarget, what: string, received: string): PlimsollError {
  return new PlimsollError(
    'PLIM_PREFLIGHT',
    `${target.url} answers, but not as an OpenAI-compatible server: ${what}`,
    {
      expected:
        target.stream === false
          ? `an answer of ${apis[target.api].words}`
          : target.api === 'chat'
            ? 'a stream of chat completion chunks'
            : target.api === 'completions'
              ? 'a stream of completion chunks'
              : `a stream of ${apis[target.api].words}`,
      received,
      hint: 'is this the address of the inference server itself, not of a page or proxy in front of it?',
    },
  )
}

/** The server speaks as it should, and what it says is that it cannot: its own words tell why. */
export function serverError(target: PreflightTarget, received: string): PlimsollError {
  return new PlimsollError('PLIM_PREFLIGHT', `${target.url} answers a small request with an error`, {
    expected: 'a short answer before any load is sent',
    received,
    hint: 'its log says why; nothing can be measured before it answers one request',
  })
}

/** The sentence for a probe that no plainer form mends. */
export function refusedProbe(answer: ProbeAnswer, target: PreflightTarget): PlimsollError {
  return refusedByStatus(answer, target, {
    path: target.endpointPath,
    expected: target.stream === false ? 'a short answer' : 'a short streamed answer',
    around: '--extra-body adds or replaces fields of the request',
  })
}
