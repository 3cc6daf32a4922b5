import { PlimsollError } from '../base/errors.ts'
import type { AwsSigner } from '../measure/wire/aws-signature.ts'

/**
 * `--aws-sigv4 SERVICE` or `SERVICE:REGION`, with the credentials of the environment, by the names that every AWS tool reads.
 * @throws PlimsollError PLIM_AUTH where one is not set.
 */
export function awsSigner(asked: string, env: (name: string) => string | undefined): AwsSigner {
  const [service = '', region = ''] = asked.split(':', 2)
  const read = (name: string): string => {
    const value = env(name) ?? ''
    if (value !== '') return value
    throw new PlimsollError('PLIM_AUTH', `${name} is not set, and --aws-sigv4 signs with it`, {
      expected: 'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary ones, AWS_SESSION_TOKEN',
      received: `no ${name}`,
      hint: `export ${name}`,
    })
  }
  const known = [region, env('AWS_REGION') ?? '', env('AWS_DEFAULT_REGION') ?? ''].find((text) => text !== '')
  if (service === '' || known === undefined) {
    throw new PlimsollError('PLIM_USAGE', '--aws-sigv4 does not say which service and region it signs for', {
      expected: 'SERVICE with AWS_REGION set, or SERVICE:REGION, like bedrock:eu-west-1',
      received: JSON.stringify(asked),
    })
  }
  const token = env('AWS_SESSION_TOKEN') ?? ''
  return {
    accessKeyId: read('AWS_ACCESS_KEY_ID'),
    secretAccessKey: read('AWS_SECRET_ACCESS_KEY'),
    sessionToken: token === '' ? null : token,
    region: known,
    service,
  }
}
