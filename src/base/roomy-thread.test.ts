import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { startRoomyThread } from './roomy-thread.ts'

const newSpaceMib = (thread: Worker): Promise<number> =>
  new Promise((resolve, reject) => {
    thread.once('message', (bytes: number) => resolve(bytes / 2 ** 20)).once('error', reject)
  })

const script = `import v8 from 'node:v8'; import { parentPort } from 'node:worker_threads'
parentPort.postMessage(v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size)`
const report = new URL(`data:text/javascript,${encodeURIComponent(script)}`)

test('the young generation of a roomy thread begins large, and that of the next thread does not', async () => {
  expect(await newSpaceMib(startRoomyThread(report, null, 32))).toBeGreaterThanOrEqual(32)
  expect(await newSpaceMib(new Worker(report))).toBeLessThan(32)
})
