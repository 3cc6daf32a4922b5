import { expect, test } from 'vitest'
import { openFileLimit } from './open-file-limit.ts'

const page = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            ${soft.padEnd(20)} 524288               files     \n`

test.each([
  ['the soft limit', page('1024'), 1024],
  ['no limit', page('unlimited'), null],
  ['no such page', '', null],
])('%s', (_, limits, wanted) => expect(openFileLimit(limits)).toBe(wanted))
