// llama.cpp's own server, from npm alone: the package node-llama-cpp carries llama.cpp's source as a git bundle, and its companion the
// libraries built from it. Only the server's few files are compiled here and linked to those libraries: some four minutes on two
// cores, against twenty for all of it. Needs git, cmake, ninja and g++ on Linux x64.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const version = '3.21.1'
const tools = ['git', 'cmake', 'ninja', 'g++']

/** What the server is made of, beside the libraries that come ready. */
const pieces = [
  'tools/server/CMakeFiles/llama-server.dir/main.cpp.o',
  'tools/server/libllama-server-impl.a',
  'tools/server/libserver-context.a',
  'tools/mtmd/libmtmd.a',
  'tools/ui/libllama-ui.a',
  'vendor/cpp-httplib/libcpp-httplib.a',
  'vendor/hash/libvendor-hash.a',
]

/** Why it cannot be built here; null where it can. */
export function cannotBuild() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'only Linux x64 has the libraries'
  const absent = tools.filter((tool) => !runs(tool))
  return absent.length === 0 ? null : `${absent.join(', ')} cannot be found`
}

/** The server in `folder`, built unless it is there. */
export function buildLlamaServer(folder, say) {
  const server = join(folder, 'bin', 'llama-server')
  if (existsSync(server)) return server
  const run = (command, args, cwd = folder) =>
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 })
  mkdirSync(join(folder, 'bin'), { recursive: true })

  say(`node-llama-cpp ${version}: source and libraries, from npm`)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const packages = ['node-llama-cpp', '@node-llama-cpp/linux-x64'].map((name) => `${name}@${version}`)
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional', ...packages])

  const modules = join(folder, 'node_modules')
  const shipped = join(modules, 'node-llama-cpp', 'llama')
  const source = join(folder, 'source')
  if (!existsSync(source)) {
    run('git', [
      '-c',
      'advice.detachedHead=false',
      'clone',
      '--quiet',
      join(shipped, 'gitRelease.bundle'),
      source,
    ])
    // The libraries were built with these; one that does not apply is in the release already.
    const patches = readdirSync(join(shipped, 'patches')).filter((name) => name.endsWith('.diff'))
    for (const patch of patches) {
      const path = join(shipped, 'patches', patch)
      if (runs('git', ['-C', source, 'apply', '--check', path])) run('git', ['-C', source, 'apply', path])
    }
  }

  say('the server’s own files: about four minutes')
  const build = join(folder, 'build')
  const off = ['TESTS', 'EXAMPLES', 'APP', 'UI'].map((part) => `-DLLAMA_BUILD_${part}=OFF`)
  off.push('-DLLAMA_USE_PREBUILT_UI=OFF', '-DLLAMA_OPENSSL=OFF', '-DBUILD_SHARED_LIBS=OFF')
  // Without its optimization, an archive waits for every library that it will be linked with.
  const fast = [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DCMAKE_OPTIMIZE_DEPENDENCIES=ON',
    '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -w',
  ]
  run('cmake', ['-S', source, '-B', build, '-G', 'Ninja', ...fast, ...off])
  run('ninja', ['-C', build, '--quiet', ...pieces])

  const ready = join(modules, '@node-llama-cpp', 'linux-x64', 'bins', 'linux-x64')
  const libraries = readdirSync(ready).filter((name) => name.endsWith('.so'))
  for (const name of libraries) copyFileSync(join(ready, name), join(folder, 'bin', name))
  // The cpu variants are opened when the server runs, by what the processor can do.
  const linked = libraries.filter((name) => !name.startsWith('libggml-cpu-'))
  const archives = ['-Wl,--start-group', ...pieces.map((piece) => join(build, piece)), '-Wl,--end-group']
  const beside = linked.map((name) => join(folder, 'bin', name))
  run('g++', ['-o', server, '-Wl,-rpath,$ORIGIN', ...archives, ...beside, '-lpthread', '-ldl'])
  return server
}

function runs(command, args = ['--version']) {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
