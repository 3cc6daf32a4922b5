import { createHash, createHmac } from 'node:crypto'

/** Whose requests are signed, and for what. Plain data: it travels to the workers, and is never stored. */
export interface AwsSigner {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
  readonly region: string
  /** The service's signing name (`bedrock`, `sagemaker`, `execute-api`). */
  readonly service: string
}

export interface SignedRequest {
  readonly method: string
  readonly host: string
  /** Path and query, as they are sent. */
  readonly path: string
  /** Signed as well; the transport adds others. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

/**
 * The headers that sign a request by AWS Signature Version 4 (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html):
 * `x-amz-date`, `x-amz-security-token` where there is one, and `authorization`. A signature is good for five minutes: sign when it is sent.
 */
export function awsSignature(
  signer: AwsSigner,
  request: SignedRequest,
  wallMs: number,
): Record<string, string> {
  const stamp = new Date(wallMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const added = {
    'x-amz-date': stamp,
    ...(signer.sessionToken === null ? {} : { 'x-amz-security-token': signer.sessionToken }),
  }
  const signed = canonicalHeaders({ ...request.headers, ...added, host: request.host })
  const names = signed.map(([name]) => name).join(';')
  const [path, query] = splitOnce(request.path)
  const canonical = [
    request.method,
    canonicalPath(path),
    canonicalQuery(query),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const scope = `${stamp.slice(0, 8)}/${signer.region}/${signer.service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n')
  const signature = hmac(signingKey(signer, stamp.slice(0, 8)), text).toString('hex')
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${signer.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

function splitOnce(path: string): readonly [string, string] {
  const at = path.indexOf('?')
  return at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
}

/** Lower-case names in order, values without outer blanks and with inner ones made one. */
function canonicalHeaders(headers: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

/** What is in the path already encoded is encoded once more, as every service but S3 wants it. */
function canonicalPath(path: string): string {
  return path
    .split('/')
    .map((segment) => encoded(segment))
    .join('/')
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  return query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return `${encoded(decoded(name))}=${encoded(decoded(value))}`
    })
    .sort()
    .join('&')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** All but RFC 3986's unreserved characters. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The key of a day, region and service: four rounds that hold for all requests of the day, so it is kept. */
let kept: { readonly of: string; readonly key: Buffer } | null = null

function signingKey({ secretAccessKey, region, service }: AwsSigner, day: string): Buffer {
  const of = JSON.stringify([secretAccessKey, region, service, day])
  if (kept !== null && kept.of === of) return kept.key
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`)
  for (const part of [day, region, service, 'aws4_request']) key = hmac(key, part)
  kept = { of, key }
  return key
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}
