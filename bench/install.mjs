// What an install brings (budget: 12 packages and 15 MB without optional peers): the packed tarball and the packages that the lock
// file has for a user, as they lie in node_modules.
//   node bench/install.mjs        needs `npm ci` and `npm run build` first
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const budget = { packages: 12, megabytes: 15 }
const root = fileURLToPath(new URL('..', import.meta.url))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const packages = Object.entries(lock.packages).filter(
  ([path, facts]) =>
    path !== '' &&
    facts.dev !== true &&
    facts.devOptional !== true &&
    facts.optional !== true &&
    facts.link !== true,
)
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
)
let bytes = packed.unpackedSize
console.log(
  `plimsoll ${(packed.size / 1e6).toFixed(2)} MB packed, ${(packed.unpackedSize / 1e6).toFixed(2)} MB unpacked, ${packed.entryCount} files`,
)
for (const [path, { version }] of packages) {
  const size = sizeOf(join(root, path))
  bytes += size
  console.log(`${path.replace('node_modules/', '')} ${version} ${(size / 1e6).toFixed(2)} MB`)
}
const megabytes = bytes / 1e6
console.log(
  `${packages.length + 1} packages with its own, ${megabytes.toFixed(1)} MB: ${((packages.length + 1) / budget.packages).toFixed(2)} of the budget of ${budget.packages} packages, ${(megabytes / budget.megabytes).toFixed(2)} of that of ${budget.megabytes} MB`,
)
if (process.platform === 'linux') {
  const kinds = {}
  for (const { path, size } of packed.files) {
    const kind = /\.d\.ts$|\.map$|\.[^.]+$/.exec(path)?.[0] ?? path
    kinds[kind] = (kinds[kind] ?? 0) + size
  }
  console.log(
    `of the tarball: ${Object.entries(kinds)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4)
      .map(([kind, size]) => `${kind} ${(size / 1e6).toFixed(2)} MB`)
      .join(', ')}`,
  )
}

function sizeOf(path) {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
