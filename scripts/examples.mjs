// node scripts/examples.mjs [--write] [NAME…]: runs the examples and compares what they print; --write keeps what they print now.
// Ends with `N passed, N failed`; exits 1 if any failed.
import { existsSync } from 'node:fs'
import process from 'node:process'
import { expectedOf, readExamples, runExample, writeExpected } from '../examples/run-examples.mjs'

if (!existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  console.error('there is no dist/: run `npm run build` first')
  process.exit(2)
}
const args = process.argv.slice(2)
const write = args.includes('--write')
const names = args.filter((arg) => !arg.startsWith('--'))
let passed = 0
let failed = 0
for (const example of readExamples()) {
  if (names.length > 0 && !names.includes(example.name)) continue
  const printed = await runExample(example)
  if (write) writeExpected(example, printed)
  const expected = expectedOf(example)
  const differing = Object.keys(expected).filter((part) => printed[part] !== expected[part])
  if (differing.length === 0) passed++
  else failed++
  console.log(`${differing.length === 0 ? (write ? 'kept' : 'pass') : 'FAIL'}  ${example.line}`)
  for (const part of differing) console.log(`      ${part} is not as in examples/commands/${example.name}`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
