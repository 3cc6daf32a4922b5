import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { startReplayServer } from './replay-server.mjs'

it('plays what is due at one time in the order of the script, however slowly it was planned', async () => {
  // A clock that moves between any two looks: planned one by one, each later deed of the same time would come earlier.
  let ms = 0
  const server = await startReplayServer(() => (ms += 0.7))
  try {
    const body = Buffer.from('abcdefghij')
    server.add('case', {
      http: { status: 200, headers: { 'content-length': '10' } },
      headersAtMs: 5,
      chunks: [...body].map((_, offset) => ({ at_ms: 20, offset, bytes: 1 })),
      body,
      end: { kind: 'eof', at_ms: 20 },
    })
    expect(await ask(new URL(server.url).port, 'GET /case HTTP/1.1\r\n\r\n')).toMatch(/\r\n\r\nabcdefghij$/)
  } finally {
    await server.close()
  }
})

it('plays what is due at two times as two reads, though it was held up beyond both', async () => {
  let ms = 0
  const server = await startReplayServer(() => ms)
  try {
    const body = Buffer.from('aabb')
    server.add('case', {
      http: { status: 200, headers: { 'content-length': '4' } },
      headersAtMs: 0,
      chunks: [20, 40].map((at_ms, i) => ({ at_ms, offset: 2 * i, bytes: 2 })),
      body,
      end: { kind: 'eof', at_ms: 60 },
    })
    const parts = await read(new URL(server.url).port, 'GET /case HTTP/1.1\r\n\r\n', () => (ms = 100))
    expect(parts.slice(1)).toEqual(['aa', 'bb'])
  } finally {
    await server.close()
  }
})

const ask = async (port: string, request: string): Promise<string> => (await read(port, request)).join('')

/** What came, read by read. */
function read(port: string, request: string, onPart = (): unknown => null): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const parts: string[] = []
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(request))
    socket.on('data', (part) => {
      parts.push(part.toString('latin1'))
      onPart()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(parts))
  })
}

it('is late by what a request waited to be heard, and by all of it while nobody hears', async () => {
  let ms = 0
  const server = await startReplayServer(() => ms)
  try {
    const script = {
      http: { status: 200, headers: {} },
      headersAtMs: 0,
      chunks: [],
      body: Buffer.alloc(0),
      end: { kind: 'eof', at_ms: 0 } as const,
    }
    server.add('heard', script)
    server.add('unheard', script)
    ms = 40
    await ask(new URL(server.url).port, 'GET /heard HTTP/1.1\r\n\r\n')
    ms = 100
    expect(server.latenessMs('heard', 5)).toBe(35)
    expect(server.latenessMs('unheard', 5)).toBe(95)
  } finally {
    await server.close()
  }
})
