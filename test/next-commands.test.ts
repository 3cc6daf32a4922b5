import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { words } from '../examples/run-examples.mjs'
import { runDoctor } from '../src/cli/verbs/doctor-action.ts'
import { runSlo } from '../src/cli/verbs/slo-actions.ts'
import { calculators } from '../src/flows/calculators.ts'
import { nextCommands } from '../src/report/render-run.ts'
import { renderImport } from '../src/report/render-import.ts'
import { savedReport } from '../src/report/saved-words.ts'
import { sweepNextCommands } from '../src/report/render-sweep.ts'
import { cliRun, type CliSettings } from './fixtures/cli.ts'
import { fiveAndFive, regressed } from './fixtures/compare.ts'
import { closedLoop, noCapacity, sixPerSecond, threeWalls } from './fixtures/documents.ts'
import { fiveRuns } from './fixtures/experiment.ts'
import { noRateHolds, nobodyAnsweredFind } from './fixtures/find.ts'
import { measuredPrefill } from './fixtures/prefill.ts'
import { nothingAnsweredSweep } from './fixtures/refused-sweep.ts'
import { seedSignals } from './fixtures/scale.ts'
import { slowLong } from './fixtures/why.ts'

// Every report ends with what to do next. Whoever copies that line runs it: our own parser has to take it.

/** What may stand for a word in capitals, which is what no report can know. */
const known: Readonly<Record<string, string>> = {
  URL: 'http://localhost:8000',
  URL_A: 'http://a:8000',
  URL_B: 'http://b:8000',
  RATE: '6/s',
  RAMP: '0.1/s/s',
  TIME: '40s',
  COUNT: '100',
  N: '100',
  OBJECTIVE: 'ttft < 1s',
}

/** The command lines of a text's last line, or of one that begins like it. */
function commandsIn(text: string): string[] {
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  return last.split(' · ').flatMap((part) => {
    const found = /(?:^|: )(plimsoll [a-z].*?)(?: {3}\(.*\))?$/.exec(part)?.[1]
    return found === undefined ? [] : [found]
  })
}

/** What our parser has against a command line, or null. */
async function mistake(line: string): Promise<string | null> {
  const argv = words(line)
    .slice(1)
    .map((word) => known[word] ?? word)
  // A calculator without its numbers says how it is asked.
  if (argv[0] === 'calc' && argv.length === 2) argv.push('--help')
  const { exitCode, stderr } = await cliRun(argv, {
    newest: 'runs/newest',
    files: Object.fromEntries(argv.filter((word) => word.endsWith('.yaml')).map((word) => [word, 'seed: 2'])),
    flows: { doctor: () => Promise.resolve(0), slo: () => Promise.resolve(0) },
  })
  const told = stderr.split('\n').find((one) => /^PLIM_|^unknown |nothing was sent/.test(one))
  return told ?? ([0, 3, 4, 5].includes(exitCode) ? null : `exit ${exitCode}`)
}

const slo = { slo: runSlo, doctor: runDoctor }
const objectives = 'objectives: { chat: { each: "ttft < 500ms", good: 99.5%, over: 30d } }\n'
const files = { 'my slo.yaml': objectives, 'plimsoll.yaml': objectives, 'bench.yaml': 'seed: 2' }

/** The text on stdout of a command line, whose flows answer with what is given. */
async function printed(line: string, flows: CliSettings['flows'] = {}): Promise<string> {
  const { stdout, stderr } = await cliRun(words(line), { flows, files, newest: 'runs/newest' })
  if (/^PLIM_|^unknown /m.test(stderr)) throw new Error(stderr)
  return stdout
}

/** Who prints command lines, by the file that makes them, and texts of each. */
const producers: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  'report/render-run.ts': async () => [
    await printed('run'),
    nextCommands(closedLoop).join(' · '),
    nextCommands({
      ...closedLoop,
      errors: { http_500: 120 },
      metrics: sixPerSecond.metrics,
      repeat: { asked: [], ends: [], load: ['--concurrency', '32'] },
    }).join(' · '),
    nextCommands({ ...sixPerSecond, target: { ...sixPerSecond.target, url: "http://a:1/it's" } }).join(' · '),
  ],
  'report/saved-words.ts': () => Promise.resolve([savedReport("my 'run", { explain: false }).join(' · ')]),
  'report/render-sweep.ts': async () => [
    await printed('sweep'),
    sweepNextCommands({ ...threeWalls, sweep: "runs/it's" }).join(' · '),
  ],
  'report/look-closer.ts': () =>
    Promise.resolve([noCapacity, nothingAnsweredSweep].map((one) => sweepNextCommands(one).join(' · '))),
  'report/find-text.ts': () =>
    Promise.all(
      [undefined, noRateHolds, nobodyAnsweredFind].map((document) =>
        printed(
          'find',
          document === undefined ? {} : { findFlow: () => Promise.resolve({ document, interrupted: false }) },
        ),
      ),
    ),
  'report/compare-text.ts': async () => {
    const compared = (over: object) => ({
      compareFlow: () =>
        Promise.resolve({
          kind: 'compared' as const,
          document: { ...fiveAndFive, ...over },
          interrupted: false,
        }),
    })
    return [
      await printed('compare before/a -- after/a', compared({})),
      await printed(
        'compare before/a -- after/a',
        compared({ again: ['--run', 'URL_A', 'http://b', '--request-rate', 'RATE', '--slo', 'ttft < 1s'] }),
      ),
      await printed(
        "compare --run http://a http://b -r 6 -f 'bench.yaml' --runs 3",
        compared({ kind: 'interleaved', again: null }),
      ),
      await printed('compare before/a -- after/a', compared({ ...regressed })),
    ]
  },
  'report/compare-plan-text.ts': async () => [await printed('compare --plan a b c')],
  'report/why-text.ts': () =>
    Promise.all(
      (['runs', 'requests', 'run'] as const).map((kind) =>
        printed('why runs/a', { whyFlow: () => Promise.resolve({ ...slowLong, kind }) }),
      ),
    ),
  'report/experiment-text.ts': () =>
    Promise.all(
      [fiveRuns, { ...fiveRuns, experiment: 'my runs', cells: [...fiveRuns.cells, ...fiveRuns.cells] }].map(
        (document) =>
          printed('run --repeat 5', {
            experimentFlow: () => Promise.resolve({ document, interrupted: false }),
          }),
      ),
    ),
  'report/prefill-text.ts': () =>
    Promise.all(
      [undefined, { ...measuredPrefill, again: ['--url', 'http://a', '--model', 'a b'] }].map((document) =>
        printed(
          'prefill',
          document === undefined
            ? {}
            : { prefillFlow: () => Promise.resolve({ document, interrupted: false }) },
        ),
      ),
    ),
  'report/plan-screen.ts': () =>
    Promise.all([
      printed('plan --each 8/s --peak 40/s --margin derate:20% --survive 1'),
      printed('plan --each 8/s --peak 40/s --margin 20% --survive 1'),
    ]),
  'report/scale-screen.ts': async () => [
    await printed('scale policy runs/a --ramp 0.1/s/s'),
    await printed("scale signals runs/a --slo 'ttft < 500ms' --cold-start 40s"),
    await printed('scale signals runs/a', {
      signalsFlow: () => Promise.resolve({ document: { ...seedSignals, best: null, policy: null } }),
    }),
  ],
  'report/model-text.ts': () =>
    Promise.all([
      printed("model fit runs/a 'runs/b c' --gpu H100"),
      printed('model fit runs/a --out m.json'),
    ]),
  'report/measurement-text.ts': async () => [await printed('model measure http://localhost:8000')],
  'report/simulate-text.ts': () =>
    Promise.all([
      printed('simulate fleet.yaml --seed 7'),
      printed("simulate 'my fleet.yaml' --out 'my sim'"),
    ]),
  'report/render-fleet.ts': async () => [await printed("show 'runs/a b' runs/c --as-fleet")],
  'report/render-import.ts': () => {
    const one = { run: sixPerSecond, published: [], unrecoverable: [], facts: {} }
    const imported = {
      folder: "runs/it's",
      label: null,
      tool: 'vllm',
      format: 'vllm',
      files: ['a.json'],
      ...one,
    }
    return Promise.resolve([
      renderImport(
        {
          schema: 'plimsoll.import/1',
          plimsoll: '0.1.0',
          together: null,
          warnings: [],
          files: [{ file: 'a.json', bytes: 0, runs: 1 }],
          runs: [imported],
        },
        { color: false, explain: false },
      ),
    ])
  },
  'report/lab-text.ts': () =>
    Promise.all(['lab tail', 'lab walls', 'lab omission'].map((line) => printed(line))),
  'cli/verbs/slo-actions.ts': () =>
    Promise.all(
      [
        'slo page --objective 99.5% --long 3% --short 4.1%',
        'slo page --objective 99.5% --at 1h=1/10 --at 5m=1/3',
        'slo budget --objective 99.9% --requests 1M --bad 250',
        'slo budget --objective 99.5% --bad-share 3% --elapsed 1h',
      ].map((line) => printed(line, slo)),
    ),
  'cli/verbs/init.ts': () => Promise.all([printed("init 'my bench.yaml'"), printed('init other.yaml')]),
  'cli/verbs/watch.ts': async () => [
    (
      await cliRun(['watch', '--url', 'http://a', '--record'], {
        flows: { watchFlow: () => Promise.resolve({ looks: 1, folder: 'runs/my watch', last: null }) },
      })
    ).stderr,
  ],
}

describe('the command that a report ends with can be typed as it stands', () => {
  test.each(Object.entries(producers))('%s', async (_, texts) => {
    const wrong: string[] = []
    for (const text of await texts()) {
      const lines = commandsIn(text)
      expect([text, lines.length > 0]).toEqual([text, true])
      for (const line of lines) {
        const what = await mistake(line)
        if (what !== null) wrong.push(`${line}: ${what}`)
        if (/…|\.\.\. /.test(line)) wrong.push(`${line}: three dots are nothing to type`)
      }
    }
    expect(wrong).toEqual([])
  })

  test.each(calculators.map((one) => [one.name, one] as const))('of calc %s', async (_, calculator) => {
    const wrong: string[] = []
    for (const [args] of calculator.examples) {
      const [line = ''] = (await printed(`calc ${calculator.name} ${args}`)).trimEnd().split('\n').slice(-1)
      for (const command of commandsIn(line)) {
        const what = await mistake(command)
        if (what !== null) wrong.push(`${command}: ${what}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('whoever prints one is walked', () => {
    const root = new URL('../src/', import.meta.url)
    // Hints of errors are tested where they are made.
    const notTheEnd = new Set(['report/command-line.ts', 'cli/verbs/compare.ts'])
    const making = ['report', 'cli/verbs']
      .flatMap((folder) => readdirSync(new URL(folder, root)).map((name) => `${folder}/${name}`))
      .filter(
        (name) =>
          /(?<!\.test)\.ts$/.test(name) &&
          /commandLine\(|planCommand\(|shellLine\(\[/.test(readFileSync(new URL(name, root), 'utf8')),
      )
    expect(making.filter((name) => !notTheEnd.has(name)).toSorted()).toEqual(
      Object.keys(producers).toSorted(),
    )
  })

  test('a wrong one would be seen', async () => {
    expect(commandsIn('text\nsaved x · find it: plimsoll find · plimsoll run   (users)')).toEqual([
      'plimsoll find',
      'plimsoll run',
    ])
    expect(await mistake('plimsoll run --rat 6')).toContain('unknown flag --rat')
    expect(await mistake('plimsoll run --request-rate …')).toContain('PLIM_')
    expect(await mistake('plimsoll prefill --url URL measures it')).not.toBeNull()
  })
})
