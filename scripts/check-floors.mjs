// Holds the floors of the house: each folder of src/ may import only from the floors below it (and itself).
// Also held here: no drawer folders, no file over 400 lines, and below `cli` nobody reads the process, the wall
// clock or a global random source.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const floors = ['base', 'stats', 'measure', 'judge', 'plan', 'operate', 'simulate', 'report', 'flows', 'cli']
const drawers = /(^|\/)(utils?|common|helpers?|managers?|misc)(\/|\.|$)/
const ambient = [
  [/\bprocess\.(env|argv|exit|cwd|stdout|stderr|stdin|on|once|pid)\b/, 'reads the process'],
  [/\bDate\.now\(|\bnew Date\(\)/, 'reads the wall clock'],
  [/\bMath\.random\(/, 'reads the global random source'],
]
// The entry files of threads and child processes are edges like cli: their process is their own.
const edges = /(^|\/)(cli\/|[a-z-]+-(thread|process)\.ts$)/

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const src = join(root, 'src')
const problems = []

function* files(folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* files(path)
    else if (path.endsWith('.ts')) yield path
  }
}

for (const path of files(src)) {
  const name = relative(src, path).split(sep).join('/')
  const own = name.includes('/') ? name.slice(0, name.indexOf('/')) : null
  const text = readFileSync(path, 'utf8')
  const say = (line, what) => problems.push(`src/${name}:${line} ${what}`)
  if (own !== null && !floors.includes(own)) say(1, `is in no floor of the house (${floors.join(' < ')})`)
  if (drawers.test(name)) say(1, 'is in a drawer: name the file after what it does in the domain')
  const lines = text.split('\n')
  if (lines.length > 401) say(401, `has ${lines.length} lines; the limit is 400`)
  lines.forEach((line, index) => {
    const found = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/.exec(line)
    if (found && own !== null) {
      const target = relative(src, resolve(dirname(path), found[1]))
        .split(sep)
        .join('/')
      const floor = target.slice(0, target.indexOf('/'))
      if (floors.indexOf(floor) > floors.indexOf(own)) {
        say(index + 1, `imports ${target}: ${own} may not look up to ${floor}`)
      }
    }
    if (own !== null && !edges.test(name) && !name.endsWith('.test.ts') && !/^\s*(\/\/|\*|\/\*)/.test(line)) {
      for (const [pattern, what] of ambient)
        if (pattern.test(line)) say(index + 1, `${what}; take it as an argument`)
    }
  })
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log('floors: clean')
