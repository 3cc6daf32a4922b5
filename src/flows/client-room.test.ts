import { describe, expect, it } from 'vitest'
import { checkClientRoom } from './client-room.ts'

const plain = { workers: null, maxConnections: null, http2: false }
const machine = { cores: 2, openFiles: 1024 }

describe('checkClientRoom', () => {
  it.each([
    ['as many workers as are allowed', { ...plain, workers: 64 }, machine, []],
    ['more, on a machine of many cores', { ...plain, workers: 128 }, { ...machine, cores: 32 }, []],
    ['as many users as files are left', plain, machine, [1, 960]],
    ['more users on few connections', { ...plain, maxConnections: 500 }, machine, [100_000]],
    ['more users by HTTP/2', { ...plain, http2: true }, machine, [100_000]],
    ['a limit that is not told', plain, { ...machine, openFiles: null }, [100_000]],
    ['no closed loop', plain, machine, []],
  ])('lets pass: %s', (_, config, on, loads) => {
    expect(() => checkClientRoom(config, on, loads)).not.toThrow()
  })

  it('refuses more threads than can help, as usage', () => {
    const ask = (): void => checkClientRoom({ ...plain, workers: 4000 }, machine, [])
    expect(ask).toThrow(
      expect.objectContaining({ code: 'PLIM_USAGE', expected: 'at most 64 on 2 cores', received: '4000' }),
    )
  })

  it('refuses more connections than files may be open, and names the limit', () => {
    const ask = (): void => checkClientRoom(plain, machine, [8, 961])
    expect(ask).toThrow(
      expect.objectContaining({
        code: 'PLIM_USAGE',
        message: 'a closed loop of 961 users needs more open files than are allowed',
        expected: expect.stringMatching(/^at most 960: .*ulimit -n/) as string,
        hint: expect.stringContaining('ulimit -n 1025') as string,
      }),
    )
  })
})
