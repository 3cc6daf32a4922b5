import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { awsSignature, type AwsSigner, type SignedRequest } from './aws-signature.ts'

/** The example of AWS's own test suite for Signature Version 4. */
const signer: AwsSigner = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
  region: 'us-east-1',
  service: 'service',
}
const at = Date.UTC(2015, 7, 30, 12, 36)
const get: SignedRequest = { method: 'GET', host: 'example.amazonaws.com', path: '/', headers: {}, body: '' }

function signature(request: Partial<SignedRequest>, by: Partial<AwsSigner> = {}): string | undefined {
  return awsSignature({ ...signer, ...by }, { ...get, ...request }, at)['authorization']?.split(
    'Signature=',
  )[1]
}

describe('AWS Signature Version 4', () => {
  it.each([
    ['get-vanilla', {}, {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      'post-vanilla',
      { method: 'POST' },
      {},
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'get-vanilla-query-order-key-case',
      { path: '/?Param2=value2&Param1=value1' },
      {},
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      "IAM's ListUsers of the documentation",
      {
        host: 'iam.amazonaws.com',
        path: '/?Action=ListUsers&Version=2010-05-08',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
      },
      { service: 'iam' },
      '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    ],
  ])('%s', (_, request, by, expected) => {
    expect(signature(request, by)).toBe(expected)
  })

  it('names what it signed, and sends the session with it', () => {
    const headers = awsSignature({ ...signer, sessionToken: 'temporary' }, get, at)
    expect(headers).toMatchObject({ 'x-amz-date': '20150830T123600Z', 'x-amz-security-token': 'temporary' })
    expect(headers['authorization']).toContain(
      'Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, ',
    )
  })

  it('is another for another body', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(signature({ body: a }) === signature({ body: b })).toBe(a === b)
      }),
      { numRuns: 50 },
    )
  })
})
