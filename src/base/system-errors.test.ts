import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { describeError } from './errors.ts'
import { systemError } from './system-errors.ts'

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('what the operating system refuses is told as such', () => {
  test.each<[string, () => unknown, RegExp]>([
    [
      'a folder read as a file',
      () => readFileSync('/'),
      /^PLIM_FILE {2}it cannot be read\n[^]*EISDIR[^]*a folder stands/,
    ],
    ['a name that is too long', () => writeFileSync(`/tmp/${'x'.repeat(5000)}`, ''), /shorter name$/],
    [
      'a file where a folder is meant',
      () => writeFileSync('/etc/hostname/x', ''),
      /a file stands where a folder/,
    ],
    [
      'a full disk',
      () => writeFileSync('/dev/full', 'x'),
      /it cannot be written\n[^]*ENOSPC[^]*the disk is full/,
    ],
  ])('%s', (_, act, told) => {
    const found = systemError(thrownBy(act), 'it')
    if (found === null) throw new Error('not known')
    expect(describeError(found)).toMatch(told)
  })

  test.each<[string, unknown]>([
    ['a fault of ours', new TypeError('x is undefined')],
    ['a connection', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
    ['no error', 'text'],
  ])('%s is none of it', (_, cause) => expect(systemError(cause, 'it')).toBeNull())
})
