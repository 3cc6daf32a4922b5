import type { AwsSigner } from '../measure/wire/aws-signature.ts'
import { awsSigner } from './aws-credentials.ts'
import type { RunConfig } from './options/run-config.ts'

/** What a server is asked with, and what must never be stored or printed of it. */
export interface Credentials {
  /** Empty where there is none; the embedded engine takes none. */
  readonly key: string
  readonly signer: AwsSigner | null
  readonly secrets: readonly string[]
}

/** Shorter texts are no secrets worth the name, and would be found everywhere. */
const shortestSecret = 8

/**
 * The credentials of the environment, and all secrets of a run: theirs and those of what is asked. One list for all that is stored
 * and for what is held against it later.
 * @throws PlimsollError PLIM_AUTH or PLIM_USAGE where a signature lacks what it needs.
 */
export function credentialsOf(
  config: Pick<RunConfig, 'target' | 'keyEnv' | 'awsSigv4'>,
  env: (name: string) => string | undefined,
  asked: { readonly secrets: readonly string[] },
): Credentials {
  const isServer = config.target.kind === 'server'
  const key = isServer ? (env(config.keyEnv) ?? '') : ''
  const signer = isServer && config.awsSigv4 !== null ? awsSigner(config.awsSigv4, env) : null
  const secrets = [
    key,
    ...asked.secrets,
    ...(signer === null ? [] : [signer.secretAccessKey, signer.sessionToken ?? '']),
  ].filter((text) => text.length >= shortestSecret)
  return { key, signer, secrets }
}
