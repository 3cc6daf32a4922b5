// One real server: a load test and a sweep, each held against what the server itself counted.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const main = new URL('../../dist/cli/main.js', import.meta.url).pathname
const requests = 60
const promptTokens = 100
const outputTokens = 24
const loads = [1, 4, 16]
const lengths = ['--prompt', `${promptTokens}`, '--output', `${outputTokens}`]

/** Starts the engine, tries it and stops it. `check(sentence, holds, seen)` gets every finding. */
export async function tryEngine(engine, { folder, log, check, say }) {
  const server = await engine.start(log)
  try {
    // What is slow only once, the engine's first steps, belongs to neither side of the comparison.
    await plimsoll([
      'run',
      '-u',
      server.url,
      '-r',
      '5',
      '-n',
      '5',
      ...lengths,
      '--json',
      '-q',
      '--runs-dir',
      folder,
    ])
    await tryRun(engine, server.url, { folder, check, say })
    if (engine.promises.prefixCache === true) await tryPrefix(server.url, { folder, check, say })
    await trySweep(engine, server.url, { folder, check, say })
  } finally {
    await server.stop()
  }
}

async function tryRun(engine, url, { folder, check, say }) {
  const before = await counters(engine, url)
  const slo = ['--slo', 'ttft < 5s and tpot < 1s']
  const asked = ['-r', '6', '-n', `${requests}`, ...lengths, ...slo, '--runs-dir', folder]
  const ran = await plimsoll(['run', '-u', url, ...asked, '--json', '-q'])
  const after = await counters(engine, url)
  const document = parsed(ran)
  check('run: prints a document', document !== null, ran.stderr)
  if (document === null) return
  const { verdict, counts, target } = document
  say((await plimsoll(['show', document.run])).stdout)

  const missed = document.objectives.some(({ judged, met }) => judged && met === 'no')
  const code = verdict.status === 'INVALID' ? 5 : missed ? 3 : 0
  check('run: the exit code says what the document says', ran.code === code, `${ran.code}, not ${code}`)
  const { planned, ok, failed, shed, censored, unsent } = counts
  check(
    'run: the counts add up',
    planned === requests && planned === ok + failed + shed + censored + unsent,
    counts,
  )
  check('run: every request succeeded', ok === requests, { counts, errors: document.errors })
  check('run: the engine is known', target.engine === engine.promises.engine, target)

  const rows = await exported(document.run)
  check('run: one row a request', new Set(rows.map(({ id }) => id)).size === requests, rows.length)
  check(
    'run: tokens are the server’s',
    rows.every((row) => row.tokens_source === 'server'),
    document.tokens_source,
  )
  checkLengths('run', engine, rows, check)
  check(
    'run: no event without a token, and few tokens without an event',
    rows.every((row) => row.n_output_chunks <= row.completion_tokens) &&
      total(rows, 'n_output_chunks') >= 0.6 * total(rows, 'completion_tokens'),
    `${total(rows, 'n_output_chunks')} events, ${total(rows, 'completion_tokens')} tokens`,
  )
  const shown = parsed(await plimsoll(['show', document.run, '--json']))
  check('run: show recomputes the same document', same(shown, document), 'they differ')
  if (before === null) return
  checkTokens('run', before, after, rows, check)
  if (after.finished !== null) {
    // Its probe is one more.
    const finished = after.finished - before.finished
    check('run: the server finished each once', finished === requests + 1, `${finished} of ${requests} + 1`)
  }
  checkTimes(before, after, rows, check, say)
}

/** Prompts of which 60 % are shared: what the server's counters say was found, and what the report says of it. */
async function tryPrefix(url, { folder, check, say }) {
  const asked = ['--prefix-hit-rate', '60%', '--prompt', '400', '--output', '4', '-r', '4']
  const window = ['--warmup', '3s', '-d', '10s', '--runs-dir', folder, '--name', 'prefix']
  const ran = await plimsoll(['run', '-u', url, ...asked, ...window, '--json', '-q'])
  const document = parsed(ran)
  check('prefix: prints a document', document !== null, ran.stderr)
  if (document === null) return
  const { stdout } = await plimsoll(['show', document.run])
  say(stdout)
  const { prefix_hits: hits, prefix_queries: queries } = document.server ?? {}
  const rate = hits / queries
  check('prefix: the server found 60 % ± 2 % of the prompts', Math.abs(rate - 0.6) <= 0.02, { hits, queries })
  const words = `prefix cache hit ${Math.round(100 * rate)} %`
  check('prefix: the report says what it found', stdout.includes(words), stdout)
}

async function trySweep(engine, url, { folder, check, say }) {
  const before = await counters(engine, url)
  const judged = ['--slo', 'p90 tpot <= 1s', '-d', '5s', '--confirm-duration', '6s']
  const asked = ['-c', loads.join(','), ...lengths, ...judged, '--runs-dir', folder]
  const ran = await plimsoll(['sweep', '-u', url, ...asked, '--json', '-q'])
  const after = await counters(engine, url)
  const document = parsed(ran)
  check('sweep: prints a document', document !== null, ran.stderr)
  if (document === null) return
  const { points, walls, capacity, operating_point: point } = document
  say((await plimsoll(['show', document.sweep])).stdout)

  check('sweep: exit code 0, or 5 where the client set the numbers', [0, 5].includes(ran.code), ran.code)
  check(
    'sweep: the loads that were asked',
    points.map(({ load }) => load.value).join() === loads.join(),
    points.length,
  )
  check(
    'sweep: never more in flight than users',
    points.every(({ in_flight: inFlight, load }) => inFlight > 0 && inFlight <= load.value + 0.01),
    points.map((each) => each.in_flight),
  )
  const unreached = ['saturation', 'slo', 'memory'].filter((wall) => walls[wall] === null)
  check(
    'sweep: a wall that is not there says why',
    unreached.every((wall) => walls.why[wall].length > 0),
    walls.why,
  )
  check(
    'sweep: the capacity is a tested load, or none',
    capacity.load === null || loads.includes(capacity.load),
    capacity,
  )
  check(
    'sweep: a capacity has an operating point, and a Poisson run at it',
    capacity.load === null || point?.confirmation?.verdict !== undefined,
    point,
  )
  const { memoryWall } = engine.promises
  if (memoryWall !== undefined) {
    const pool =
      walls.memory === null ? null : Math.floor(walls.memory.kv_tokens / (promptTokens + outputTokens))
    check('sweep: the memory wall is the engine’s', walls.memory?.load === (memoryWall ?? pool), walls.memory)
  }

  const names = readdirSync(document.sweep, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const rows = []
  for (const { name } of names) rows.push(...(await exported(join(document.sweep, name))))
  const sent = rows.filter((row) => row.outcome !== 'unsent')
  check(
    'sweep: no request failed',
    sent.every((row) => row.ok),
    outcomes(sent),
  )
  checkLengths('sweep', engine, sent, check)
  if (before !== null) checkTokens('sweep', before, after, sent, check)
}

/** Answers are as long as asked; prompts too where the server can be asked how it counts. */
function checkLengths(verb, { promises }, rows, check) {
  const answered = rows.filter((row) => row.ok)
  const lengthsOf = (name) => [...new Set(answered.map((row) => row[name]))].join()
  if (promises.ignoresEos) {
    const exact = answered.every(
      (row) => row.completion_tokens === outputTokens && row.finish_reason === 'length',
    )
    check(`${verb}: every answer has the asked ${outputTokens} tokens`, exact, lengthsOf('completion_tokens'))
  }
  const mean = total(answered, 'prompt_tokens') / answered.length
  if (promises.exactPrompts) {
    const exact = answered.every((row) => row.prompt_tokens === promptTokens)
    check(`${verb}: every prompt has the asked ${promptTokens} tokens`, exact, lengthsOf('prompt_tokens'))
  } else {
    const near = Math.abs(mean - promptTokens) <= 0.1 * promptTokens
    check(`${verb}: prompts have the asked ${promptTokens} tokens within 10 % on average`, near, mean)
  }
}

/** The server's counters grew by what the rows hold, and by one probe. */
function checkTokens(verb, before, after, rows, check) {
  const generated = after.generated - before.generated - total(rows, 'completion_tokens')
  check(
    `${verb}: no generated token is lost or made up`,
    generated >= 1 && generated <= 16,
    `${generated} more`,
  )
  const prompt = after.prompt - before.prompt - total(rows, 'prompt_tokens')
  check(`${verb}: no prompt token is lost or made up`, prompt >= 1 && prompt <= 300, `${prompt} more`)
}

/** The client's times beside the server's own: it stands outside, so it sees no less, and not much more. */
function checkTimes(before, after, rows, check, say) {
  const sums = {
    ttftMs: rows.reduce((sum, row) => sum + row.ttft_ms - row.lag_ms, 0),
    e2eMs: rows.reduce((sum, row) => sum + row.e2e_ms - row.lag_ms, 0),
    tpotMs: total(rows, 'tpot_ms'),
    generationMs: rows.reduce((sum, row) => sum + row.e2e_ms - row.ttft_ms, 0),
  }
  for (const [name, end] of Object.entries(after.means)) {
    const ours = sums[name] / rows.length
    // The server's mean is over the probe too.
    const theirs = (end - before.means[name]) / (rows.length + (after.finished === null ? 0 : 1))
    say(`${name}: ${ours.toFixed(3)} here, ${theirs.toFixed(3)} by the server, a request`)
    check(`run: ${name} is the server’s own within a half`, ours > 0.67 * theirs && ours < 1.5 * theirs + 5, {
      ours,
      theirs,
    })
  }
}

async function counters({ counters: read }, url) {
  if (read === null) return null
  return read(await (await fetch(`${url}/metrics`)).text())
}

async function exported(run) {
  const { stdout } = await plimsoll(['export', run, '--format', 'jsonl'])
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

function plimsoll(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

function parsed({ stdout }) {
  try {
    return JSON.parse(stdout)
  } catch {
    return null
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const total = (rows, name) => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)
const outcomes = (rows) =>
  JSON.stringify(Object.groupBy?.(rows, (row) => row.outcome) ?? rows.length).slice(0, 300)
