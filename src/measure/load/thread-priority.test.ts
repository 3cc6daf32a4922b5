import { expect, test } from 'vitest'
import { standBeforeOthers } from './thread-priority.ts'

const denied = (): never => {
  throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
}

test.each([
  ['a thread of Linux is raised by its own number', () => '4711/task/4715', true, [[4715, -10]]],
  ['no /proc: not Linux', denied, false, []],
  ['a link that names no thread never raises the whole process', () => '4711/task/', false, []],
])('%s', (_, readLink, raised, asked) => {
  const calls: unknown[] = []
  expect(standBeforeOthers(readLink, (...call) => void calls.push(call))).toBe(raised)
  expect(calls).toEqual(asked)
})

test('without the right to it the thread stays where it was', () => {
  expect(standBeforeOthers(() => '1/task/2', denied)).toBe(false)
})
