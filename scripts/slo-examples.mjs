// Writes examples/slo/_gen from examples/slo/*.yaml with the built dist/; with --check it only tells whether they are up to date.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

const check = process.argv.includes('--check')
const { sloFiles, sloRules } = await import('../dist/flows/slo-rules.js')
const folder = new URL('../examples/slo/', import.meta.url)
const made = new Map()
for (const name of readdirSync(folder)
  .filter((one) => one.endsWith('.yaml'))
  .sort()) {
  const path = `examples/slo/${name}`
  const rules = sloRules([{ path, text: readFileSync(new URL(name, folder), 'utf8') }], {})
  for (const file of sloFiles(rules)) made.set(file.name, file.text)
}

const into = new URL('_gen/', folder)
if (check) {
  let stale = 0
  const there = readdirSync(into)
  for (const name of new Set([...made.keys(), ...there])) {
    const before = there.includes(name) ? readFileSync(new URL(name, into), 'utf8') : null
    if (before === made.get(name)) continue
    console.error(`examples/slo/_gen/${name} is not what the source makes: node scripts/slo-examples.mjs`)
    stale++
  }
  if (stale > 0) process.exit(1)
  console.log(`slo examples: ${made.size} files, up to date`)
} else {
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  for (const [name, text] of made) writeFileSync(new URL(name, into), text)
  console.log(`slo examples: ${made.size} files written`)
}
