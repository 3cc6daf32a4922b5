import { makeFolders } from '../../measure/record/make-folders.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlimsollError } from '../../base/errors.ts'
import { noun } from '../../base/noun.ts'
import { parseCount } from '../../base/units.ts'
import { parseConfigFile } from '../../flows/options/read-config.ts'
import { sloEngines, type SloEngine } from '../../flows/options/slo-section.ts'
import { liveBudget, runBudget, typedBudget } from '../../flows/slo-budget.ts'
import { livePage, typedPage } from '../../flows/slo-page.ts'
import { openPrometheus, type PrometheusServer } from '../../flows/slo-prometheus.ts'
import { promtool } from '../../flows/slo-promtool.ts'
import { sloFiles, sloRules, untestedSlis, type MadeFile } from '../../flows/slo-rules.ts'
import { readSloSpecs, specsNamed, type TextFile } from '../../flows/slo-specs.ts'
import type { SloOverrides } from '../../flows/slo-shared.ts'
import { nativeUntested } from '../../operate/slo/native-sli.ts'
import type { SloSpec } from '../../operate/slo/slo-spec.ts'
import type { SloRules } from '../../operate/slo/rules.ts'
import { isSpent } from '../../operate/slo/budget-report.ts'
import { renderBudget, type BudgetScreen } from '../../report/slo-budget-text.ts'
import { renderChecks } from '../../report/slo-check-text.ts'
import { budgetDocument, pageDocument, rulesDocument } from '../../report/slo-documents.ts'
import { renderPage, type PageScreen } from '../../report/slo-page-text.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, list, oneOf, text } from '../flags/flag-values.ts'
import type { SloAction } from '../flows.ts'
import { printResult } from '../print-result.ts'
import type { FlagValues, Invocation } from '../verb.ts'

const parts: Readonly<Record<SloAction, (invocation: Invocation) => Promise<ExitCode>>> = {
  budget,
  page,
  rules,
  test,
}

/** The parts of `plimsoll slo`. */
export function runSlo(action: SloAction, invocation: Invocation): Promise<ExitCode> {
  return parts[action](invocation)
}

async function page(invocation: Invocation): Promise<ExitCode> {
  const { flags, cli } = invocation
  const screens = text(flags, 'prometheus') === undefined ? [typed(flags)] : await live(invocation, livePage)
  invocation.settled()
  await printResult(pageDocument(screens), invocation, async () => {
    const texts = screens.map((screen) => renderPage(screen, cli.stdout))
    return `${texts.join('')}${await nextAfterPage(invocation, screens)}\n`
  })
  const verdicts = screens.map(({ decisions }) => decisions[0]?.verdict)
  if (verdicts.includes('page')) return exitCodes.objectiveFailed
  return verdicts.includes('unknown') ? exitCodes.invalid : exitCodes.fine
}

function typed(flags: FlagValues): PageScreen {
  const long = text(flags, 'long')
  const short = text(flags, 'short')
  const requests = text(flags, 'requests')
  const isCounted = [long, short, ...list(flags, 'at')].some((one) => one?.includes('/') === true)
  return typedPage({
    objective: needed(flags, 'objective', '99.5%'),
    window: text(flags, 'window') ?? '30d',
    ...(long === undefined ? {} : { long }),
    ...(short === undefined ? {} : { short }),
    ...(requests === undefined ? {} : { requests }),
    at: list(flags, 'at'),
    policy: text(flags, 'policy') ?? 'lesson',
    minBad: parseCount((isCounted ? text(flags, 'min-bad') : undefined) ?? '3', '--min-bad'),
  })
}

function needed(flags: FlagValues, name: string, example: string): string {
  const value = text(flags, name)
  if (value !== undefined) return value
  throw new PlimsollError('PLIM_USAGE', `--${name} is missing`, {
    expected: `--${name} ${example}`,
    hint: 'or a file with objectives and --prometheus URL',
  })
}

/** What is asked of another part of `slo` with the same words. */
async function sameOf(
  action: SloAction,
  invocation: Pick<Invocation, 'given' | 'args'>,
  ...more: readonly string[]
): Promise<string> {
  const [{ sloFlags }, { typedWords }, { commandLine }] = await Promise.all([
    import('../flags/slo-flags.ts'),
    import('../flags/typed-words.ts'),
    import('../../report/command-line.ts'),
  ])
  return commandLine('slo', action, ...typedWords(invocation, { of: sloFlags[action] }), ...more)
}

async function nextAfterPage(invocation: Invocation, screens: readonly PageScreen[]): Promise<string> {
  const { given } = invocation
  const asked = text(given, 'objective')
  if (asked === undefined) return await sameOf('budget', invocation)
  const share = text(given, 'long') ?? ''
  const spent = /^[\d.]+%?$/.test(share)
    ? ['--bad-share', share, '--elapsed', '1h']
    : ['--requests', text(given, 'requests') ?? 'COUNT', '--bad', 'COUNT']
  const window = screens[0]?.period ?? '30d'
  const { commandLine } = await import('../../report/command-line.ts')
  return commandLine('slo', 'budget', '--objective', asked, '--window', window, ...spent)
}

/** Asks a Prometheus server about the objectives of the files. */
async function live<T>(
  { flags, args, cli }: Invocation,
  ask: (specs: readonly SloSpec[], server: PrometheusServer) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const specs = specsNamed(readSloSpecs(await filesOf(args, cli), overrides(flags)), text(flags, 'name'))
  const deps = await cli.flowDeps({
    onProgress: () => {},
    onNotice: () => {},
    confirm: () => Promise.resolve(true),
  })
  const server = await openPrometheus(text(flags, 'prometheus') ?? '', deps)
  try {
    return await ask(specs, server)
  } finally {
    await server.close()
  }
}

async function filesOf(args: readonly string[], cli: Invocation['cli']): Promise<readonly TextFile[]> {
  const paths = args.length === 0 ? ['plimsoll.yaml'] : args
  return await Promise.all(
    paths.map(async (path) => {
      const content = await cli.readFile(path)
      if (content !== null) return { path, text: content }
      throw new PlimsollError('PLIM_FILE', `there is no ${path}`, {
        hint: 'plimsoll init writes a plimsoll.yaml; objectives: chat: { each: ttft < 500ms, good: 99.5%, over: 30d }',
      })
    }),
  )
}

function overrides(flags: FlagValues): SloOverrides {
  const policy = text(flags, 'policy')
  const engine = text(flags, 'engine')
  const edges = text(flags, 'edges')
  const unreachable = text(flags, 'unreachable')
  const engines = Object.fromEntries(sloEngines.map((name) => [name, name])) as Record<string, SloEngine>
  return {
    ...(policy === undefined ? {} : { policy }),
    ...(engine === undefined ? {} : { engine: oneOf(engine, '--engine', engines) }),
    ...(edges === undefined
      ? {}
      : {
          edges: oneOf(edges, '--edges', {
            refuse: 'refuse',
            pessimistic: 'pessimistic',
            optimistic: 'optimistic',
          } as const),
        }),
    ...(isOn(flags, 'native-histograms') === true ? { histograms: 'native' as const } : {}),
    ...(unreachable === undefined
      ? {}
      : { unreachable: oneOf(unreachable, '--unreachable', { refuse: 'refuse', refit: 'refit' } as const) }),
  }
}

async function budget(invocation: Invocation): Promise<ExitCode> {
  const { cli } = invocation
  const screens = await budgetScreens(invocation)
  invocation.settled()
  await printResult(budgetDocument(screens), invocation, async () => {
    const texts = screens.map((screen) => renderBudget(screen, cli.stdout))
    return `${texts.join('')}${await nextAfterBudget(invocation)}\n`
  })
  return screens.some(({ report }) => isSpent(report) || report.lasts === 'gone')
    ? exitCodes.objectiveFailed
    : exitCodes.fine
}

async function nextAfterBudget(invocation: Invocation): Promise<string> {
  const { given } = invocation
  if (text(given, 'prometheus') !== undefined) return await sameOf('page', invocation)
  const share = text(given, 'bad-share')
  const { commandLine } = await import('../../report/command-line.ts')
  return share === undefined
    ? commandLine('slo', 'rules', 'plimsoll.yaml', '--out', 'deploy/slo')
    : commandLine(
        'slo',
        'page',
        '--objective',
        text(given, 'objective') ?? '99.5%',
        '--long',
        share,
        '--short',
        share,
      )
}

async function budgetScreens(invocation: Invocation): Promise<readonly BudgetScreen[]> {
  const { flags, args, cli } = invocation
  if (text(flags, 'prometheus') !== undefined) return await live(invocation, liveBudget)
  const [run] = args
  const window = text(flags, 'window') ?? '30d'
  if (run !== undefined) {
    const said = list(flags, 'slo').map((one) => ({ text: one }))
    const good = text(flags, 'objective')
    const objectives = said.length > 0 ? said : await configObjectives(cli)
    if (objectives.length === 0) {
      throw new PlimsollError('PLIM_USAGE', 'nothing says what a good request is', {
        expected: "--slo 'ttft < 500ms, good 99.5%', or objectives in plimsoll.yaml",
      })
    }
    return await runBudget(
      run,
      objectives.map((one) => ({ ...one, ...(good === undefined ? {} : { good }) })),
      window,
    )
  }
  const given = (name: string): string | undefined => text(flags, name)
  const pairs = Object.entries({
    requests: given('requests'),
    bad: given('bad'),
    seen: given('seen'),
    share: given('bad-share'),
    elapsed: given('elapsed'),
  }).filter(([, value]) => value !== undefined)
  return [
    typedBudget({ objective: needed(flags, 'objective', '99.5%'), window, ...Object.fromEntries(pairs) }),
  ]
}

async function configObjectives(
  cli: Invocation['cli'],
): Promise<readonly { text: string; good?: string; shed?: 'bad' | 'ignore' }[]> {
  const content = await cli.readFile('plimsoll.yaml')
  if (content === null) return []
  const { config } = parseConfigFile(content, 'plimsoll.yaml')
  return Object.values(config.objectives ?? {}).flatMap(({ each, good, shed }) =>
    each === undefined
      ? []
      : [
          {
            text: each,
            ...(good === undefined ? {} : { good: String(good) }),
            ...(shed === undefined ? {} : { shed }),
          },
        ],
  )
}

async function rules(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const all = sloRules(await filesOf(args, cli), overrides(flags))
  const files = sloFiles(all)
  const out = text(flags, 'out')
  if (out !== undefined) await writeAll(files, out)
  if (isOn(flags, 'json') === true) {
    cli.stdout.write(
      `${JSON.stringify(rulesDocument(all, out === undefined ? [] : files.map(({ name }) => join(out, name))))}\n`,
    )
    return exitCodes.fine
  }
  if (out !== undefined) {
    cli.stdout.say(
      `${renderChecks(all, cli.stdout)}wrote ${files.length} ${noun(files.length, 'file')} to ${out} · ${await sameOf('test', invocation, '--out', out)}\n`,
    )
    return exitCodes.fine
  }
  const ending = oneOf(text(flags, 'format') ?? 'plain', '--format', {
    plain: '.rules.yaml',
    crd: '.prometheusrule.yaml',
    dashboard: '.dashboard.json',
    openslo: '.openslo.yaml',
    test: '.test.yaml',
  } as const)
  if (isOn(flags, 'quiet') !== true) cli.stderr.write(renderChecks(all, cli.stderr))
  const shown = files.filter(({ name }) => name.endsWith(ending))
  await cli.stdout.writeAll(shown.map((file) => file.text).join(ending.endsWith('.json') ? '' : '---\n'))
  return exitCodes.fine
}

async function writeAll(files: readonly MadeFile[], folder: string): Promise<void> {
  await makeFolders(folder)
  for (const file of files) await writeFile(join(folder, file.name), file.text)
}

async function test({ flags, args, cli }: Invocation): Promise<ExitCode> {
  const all = sloRules(await filesOf(args, cli), overrides(flags))
  const files = sloFiles(all)
  const kept = text(flags, 'out')
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'plimsoll-slo-')))
  try {
    await writeAll(files, folder)
    return await runTests(all, files, folder, { flags, cli })
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function runTests(
  all: readonly SloRules[],
  files: readonly MadeFile[],
  folder: string,
  { flags, cli }: Pick<Invocation, 'flags' | 'cli'>,
): Promise<ExitCode> {
  const tests = files.filter(({ name }) => name.endsWith('.test.yaml')).map(({ name }) => name)
  const ruleFiles = files.filter(({ name }) => name.endsWith('.rules.yaml')).map(({ name }) => name)
  const checked = await promtool(['check', 'rules', ...ruleFiles], folder)
  const tested = checked.kind === 'passed' ? await promtool(['test', 'rules', ...tests], folder) : checked
  const cases = files
    .filter(({ name }) => name.endsWith('.test.yaml'))
    .reduce((sum, { text: content }) => sum + [...content.matchAll(/^ {2}- name: /gm)].length, 0)
  const objectives = `${all.length} ${noun(all.length, 'objective')}`
  if (isOn(flags, 'json') === true) {
    const document = {
      schema: 'plimsoll.slo-test/1',
      promtool: tested.kind,
      tests: cases,
      objectives: all.length,
    }
    cli.stdout.write(`${JSON.stringify(document)}\n`)
  } else if (tested.kind === 'passed') {
    cli.stdout.say(
      `PASSED · ${cases} tests of ${objectives}: outage, slow burn, blip, idle, absent, fresh, reset, low traffic\n`,
    )
    const untested = all.flatMap(untestedSlis)
    if (untested.length > 0) {
      cli.stdout.say(`NOT TESTED · ${untested.join(', ')}: ${nativeUntested.replace(/: .*/, '')}\n`)
    }
  } else if (tested.kind === 'failed') cli.stdout.say(`FAILED\n${tested.output.trim()}\n`)
  else {
    cli.stdout.say(
      `NOT RUN · ${cases} tests of ${objectives} were made, but promtool is not here: apt-get install prometheus, or --out DIR and run them elsewhere\n`,
    )
  }
  return tested.kind === 'failed' ? exitCodes.objectiveFailed : exitCodes.fine
}
