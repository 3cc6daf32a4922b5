import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PlannedRequest } from '../workload/planned-request.ts'
import { bodyAt, bodyCount, packBodies } from './body-chunk.ts'

it('bodies come out byte for byte, of any characters and lengths', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (bodies) => {
      const chunk = packBodies(bodies.map((body, i) => ({ body, thinkTimeMs: i }) as PlannedRequest))
      expect(bodyCount(chunk)).toBe(bodies.length)
      bodies.forEach((body, i) => {
        expect(bodyAt(chunk, i).equals(Buffer.from(body))).toBe(true)
        expect(chunk.thinkTimeMs[i]).toBe(i)
      })
    }),
  )
})
