import { expect, test } from 'vitest'
import { standBeforeOthers } from './thread-priority.ts'

const denied = (): never => {
  throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
}
const thread = () => '4711/task/4715'

test.each([
  [
    'a thread of Linux is raised by its own number, ten before where it began',
    thread,
    0,
    true,
    [[4715, -10]],
  ],
  ['started with nice -n 5, it goes before its own process and no further', thread, 5, true, [[4715, -5]]],
  ['started last of all', thread, 19, true, [[4715, 9]]],
  ['started as one before the others', thread, -5, true, [[4715, -15]]],
  ['Linux knows nothing before -20', thread, -15, true, [[4715, -20]]],
  ['what stands foremost already cannot stand before its own', thread, -20, false, []],
  ['no /proc: not Linux', denied, 0, false, []],
  ['a link that names no thread never raises the whole process', () => '4711/task/', 0, false, []],
])('%s', (_, readLink, started, raised, asked) => {
  const calls: unknown[] = []
  const priorities = new Map([[4715, started]])
  const raisedNow = standBeforeOthers(
    readLink,
    (id) => priorities.get(id)!,
    (...call) => void calls.push(call),
  )
  expect(raisedNow).toBe(raised)
  expect(calls).toEqual(asked)
})

test.each([
  ['without the right to raise it', () => 0, denied],
  ['where its own priority cannot be read', denied, () => {}],
])('%s the thread stays where it was', (_, getPriority, setPriority) => {
  expect(standBeforeOthers(thread, getPriority, setPriority)).toBe(false)
})
