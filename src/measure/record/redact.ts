import { PlimsollError, restated } from '../../base/errors.ts'
import type { RequestRow } from './request-row.ts'
import { wholeRow } from './row-table.ts'

/** Stands in the place of every secret that was taken out. */
export const redacted = '[redacted]'

const secretWords = new Set([
  'authorization',
  'proxyauthorization',
  'apikey',
  'key',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'bearertoken',
  'authtoken',
  'bearer',
  'secret',
  'clientsecret',
  'password',
  'passwd',
  'passphrase',
  'cookie',
  'setcookie',
  'credential',
  'credentials',
  'privatekey',
  'sig',
  'signature',
  'subscriptionkey',
  'accesskey',
  'secretkey',
])

/**
 * Whether a name (header, key of the config, parameter of a URL) is that of a secret. Separators and case do not matter;
 * `x-` in front and words before the secret one neither (`X-My-Api-Key`). Counts of tokens (`max_tokens`) are no secrets, and
 * neither is the *name* of an environment variable (`key_env`).
 */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  for (let from = 0; from < words.length; from++) {
    if (secretWords.has(words.slice(from).join(''))) return true
  }
  return words.includes('authorization') || words.includes('password') || words.includes('secret')
}

/** The address without user, password and the values of secret parameters; other text comes back as it is. */
export function redactUrl(text: string): string {
  let result = text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/gi, `$1${redacted}@`)
  result = result.replace(/([?&#])([^=&#\s]+)=([^&#\s]*)/g, (whole, mark: string, name: string) =>
    isSecretName(safeDecode(name)) ? `${mark}${name}=${redacted}` : whole,
  )
  return result
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A bearer or basic credential, or a key of a well-known form, in the middle of a text. */
const credentialText = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi
const knownKey = /\b(sk|pk|hf|gsk|xai|nvapi|ghp|glpat)[-_][A-Za-z0-9_-]{8,}/g

/** A text without the secrets that can be recognised in it. */
export function redactText(text: string): string {
  return redactUrl(text).replace(credentialText, `$1 ${redacted}`).replace(knownKey, redacted)
}

/**
 * A deep copy of JSON-like data without secrets: the values under secret names, the user part and secret parameters of URLs,
 * bearer credentials and keys of well-known form in texts, and `Name: value` or `Name=value` texts of secret headers. Whatever
 * is written to a run folder goes through here. A value `{env: NAME}` under a secret name stays: it names where the key is.
 */
export function redact<T>(value: T, secrets: readonly string[] = []): T {
  return redactValue(value, secrets) as T
}

function redactValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactString(value, secrets)
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) {
    if (isSecretName(name) && !namesAnEnvironmentVariable(item)) copy[name] = hide(item)
    else copy[name] = redactValue(item, secrets)
  }
  return copy
}

/** A text without these secrets. Ones of under four characters are left: they would be found everywhere. */
export function withoutSecrets(text: string, secrets: readonly string[] = []): string {
  let result = text
  for (const secret of secrets) {
    if (secret.length < 4) continue
    if (result.includes(secret)) result = result.replaceAll(secret, redacted)
    if (result.endsWith('…')) result = withoutCutSecret(result, secret)
  }
  return result
}

/** A text that was shortened may end in the middle of a secret. */
function withoutCutSecret(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= 4; length--) {
    if (text.endsWith(`${secret.slice(0, length)}…`)) return `${text.slice(0, -length - 1)}${redacted}…`
  }
  return text
}

const serverTexts = [
  'error_kind',
  'error_code',
  'error_type',
  'error_message',
  'finish_reason',
  'replica',
  'text',
  'reasoning_text',
  'tool_args',
] as const satisfies readonly (keyof RequestRow)[]

/** A row whose texts of the server's making hold none of these secrets: a server may quote a key in whatever it answers. */
export function rowWithoutSecrets(row: RequestRow, secrets: readonly string[]): RequestRow {
  if (secrets.length === 0) return row
  const changed: Partial<Record<(typeof serverTexts)[number], string>> = {}
  for (const name of serverTexts) {
    const text = row[name]
    if (text === null || text === undefined) continue
    const safe = withoutSecrets(text, secrets)
    if (safe !== text) changed[name] = safe
  }
  return Object.keys(changed).length === 0 ? row : { ...wholeRow(row), ...changed }
}

/** The error with none of these secrets in what it prints. */
export function errorWithoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof PlimsollError) || secrets.length === 0) return error
  const { message, expected, received, hint } = error
  const safe = <T extends string | undefined>(text: T): T =>
    (text === undefined ? text : withoutSecrets(text, secrets)) as T
  return restated(error, {
    message: safe(message),
    expected: safe(expected),
    received: safe(received),
    hint: safe(hint),
    // The one before holds them still.
    cause: undefined,
  })
}

function redactString(text: string, secrets: readonly string[]): string {
  const result = withoutSecrets(text, secrets)
  const header = /^\s*([A-Za-z][\w-]*)\s*([:=])\s*(.*)$/s.exec(result)
  if (header !== null && header[3] !== '' && isSecretName(header[1] ?? '')) {
    return `${header[1]}${header[2]}${header[2] === ':' ? ' ' : ''}${redacted}`
  }
  return redactText(result)
}

function namesAnEnvironmentVariable(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false
  const keys = Object.keys(item)
  return keys.length === 1 && keys[0] === 'env'
}

/** Secrets become the mark; null, counts and flags say nothing secret and stay. */
function hide(item: unknown): unknown {
  if (item === null || item === undefined || typeof item === 'boolean' || typeof item === 'number')
    return item
  return redacted
}
