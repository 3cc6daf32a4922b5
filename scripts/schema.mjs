// Writes schema/*.schema.json from the built dist/; with --check it only tells whether they are up to date (exit 1 if not).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const check = process.argv.includes('--check')
const { jsonSchemas } = await import('../dist/flows/options/json-schemas.js')
const folder = new URL('../schema/', import.meta.url)
mkdirSync(folder, { recursive: true })

let stale = 0
for (const [name, schema] of Object.entries(jsonSchemas())) {
  const path = new URL(`${name}.schema.json`, folder)
  const text = `${JSON.stringify(schema, null, 2)}\n`
  if (check) {
    let before = null
    try {
      before = readFileSync(path, 'utf8')
    } catch {
      // Not there: stale.
    }
    if (before !== text) {
      console.error(`schema/${name}.schema.json does not say what the source says: npm run schema`)
      stale++
    }
  } else writeFileSync(path, text)
}
if (stale > 0) process.exit(1)
console.log(check ? 'schema: up to date' : 'schema: written')
