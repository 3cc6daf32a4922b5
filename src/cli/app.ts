import {
  buildApplication,
  buildCommand,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  run,
  text_en,
  ArgumentScannerError,
  type ApplicationContext,
  type ApplicationText,
  type Command,
  type CommandContext,
  type StricliIntegration,
} from '@stricli/core'
import { PlimsollError, restated } from '../base/errors.ts'
import { nearest } from '../base/edit-distance.ts'
import { canonicalNames, prepareArguments } from './argv.ts'
import { exitCodes, type ExitCode } from './exit-codes.ts'
import { idleNotice, refuseIdleFlags, watchFlags } from './flags/watched-flags.ts'
import { printError } from './errors.ts'
import { rootHelp, verbHelp } from './help.ts'
import type { CliContext, FlagSpecs, FlagValues, Verb } from './verb.ts'
import { verbEntries } from './verbs/registry.ts'

/**
 * Runs one command line. Only the verb that is called is loaded; nothing is executed after a flag or verb that is not known.
 * Output goes to the context's streams, and the exit code comes back.
 */
export async function runCli(argv: readonly string[], cli: CliContext): Promise<ExitCode> {
  try {
    return await dispatch(asMeant(argv), cli)
  } catch (error) {
    return printError(error, cli)
  }
}

/** `help` and `version` as words, and the letters that most programs print their version by, where they stand alone. */
function asMeant(argv: readonly string[]): readonly string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help']
  const isVersion = argv.length === 1 && ['version', '-v', '-V'].includes(argv[0] ?? '')
  return isVersion ? ['--version'] : argv
}

async function dispatch(argv: readonly string[], cli: CliContext): Promise<ExitCode> {
  const entry = verbEntries.find((one) => one.name === argv[0])
  const loaded = entry === undefined ? null : await entry.load()
  const verb = loaded === null ? null : selected(loaded, argv[1])
  const title = entry === undefined ? null : verb === loaded ? entry.name : `${entry.name} ${argv[1]}`
  let args = argv
  if (verb !== null) {
    const rest = argv.slice(1)
    const engineFlags = rest.some((arg) => arg.startsWith('--engine-'))
      ? (await import('./flags/engine-flags.ts')).engineFlags
      : {}
    const prepared = prepareArguments(rest, verb.flags, engineFlags, verb.separated)
    args = [argv[0]!, ...prepared.args]
    if (!args.includes('--quiet')) for (const notice of prepared.notices) cli.stderr.say(`${notice}\n`)
  }
  let exitCode: ExitCode = exitCodes.fine
  const context: ApplicationContext = {
    process: {
      stdout: { write: cli.stdout.write },
      stderr: { write: (text) => cli.stderr.write(text) },
      env: {},
    },
  }
  const app = buildApplication(
    rootRoutes(entry?.name ?? null, verb, cli, (code) => {
      exitCode = code
    }),
    {
      name: 'plimsoll',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      documentation: { disableAnsiColor: true },
      localization: { text: messages(verb) },
    },
    { help: helpFlag(title, verb, cli), version: versionFlag(cli) },
  )
  await run(app, args, context)
  // Stricli's own codes are negative: all of them but a fault while loading are mistakes of the command line.
  const own = Number(context.process.exitCode ?? 0)
  if (own === -2 || own === -3 || own === -1 || own > 0) return exitCodes.fault
  return own < 0 ? exitCodes.usage : exitCode
}

/** A verb that becomes another by its first argument. */
function selected(verb: Verb, name: string | undefined): Verb {
  return verb.select === undefined || name === undefined || name.startsWith('-') ? verb : verb.select(name)
}

function rootRoutes(name: string | null, verb: Verb | null, cli: CliContext, done: (code: ExitCode) => void) {
  const routes: Record<string, Command<CommandContext>> = {}
  for (const entry of verbEntries) {
    routes[entry.name] =
      entry.name === name && verb !== null ? commandOf(verb, cli, done) : unloadedCommand(entry.brief)
  }
  return buildRouteMap({ routes, docs: { brief: 'plimsoll' } })
}

/** The entry of a verb that was not called and is not loaded: the parser and the help know its name by it. */
function unloadedCommand(brief: string): Command<CommandContext> {
  return buildCommand({ loader: () => Promise.resolve(() => {}), parameters: {}, docs: { brief } })
}

function commandOf(verb: Verb, cli: CliContext, done: (code: ExitCode) => void): Command<CommandContext> {
  const { positional } = verb
  return buildCommand<Record<string, unknown>, readonly string[]>({
    async func(flags, ...args) {
      const given = kebabKeys(flags)
      const { values, unread } = watchFlags(given)
      const settled = (): void => refuseIdleFlags(unread(), verb.flags)
      let unsaved: PlimsollError | null = null
      // The work begins where a verb asks for its surroundings.
      const flowDeps: CliContext['flowDeps'] = async (voice) => {
        settled()
        const deps = await cli.flowDeps(voice)
        return { ...deps, onUnsaved: (error) => void (unsaved ??= error) }
      }
      try {
        const code = await verb.run({
          flags: values,
          given,
          args,
          cli: { ...cli, flowDeps },
          settled,
          isStored: () => unsaved === null,
        })
        const idle = idleNotice(unread())
        if (idle !== null) cli.stderr.say(`${idle}\n`)
        done(unsaved === null ? code : unsavedCode(unsaved, code, cli))
      } catch (error) {
        // What could not be stored is often why the rest went wrong.
        if (unsaved !== null) printError(unsaved, cli)
        done(printError(error, cli))
      }
    },
    parameters: {
      flags: flagParameters(verb.flags) as never,
      ...(positional === undefined
        ? {}
        : {
            positional: {
              kind: 'array',
              parameter: { brief: positional.brief, placeholder: positional.placeholder, parse: String },
              minimum: positional.minimum,
              ...(positional.maximum === undefined ? {} : { maximum: positional.maximum }),
            },
          }),
    },
    docs: { brief: verb.brief },
  })
}

/** The report is printed; that it could not be stored comes after it, and is the exit code unless a person ended the work. */
function unsavedCode(error: PlimsollError, code: ExitCode, cli: CliContext): ExitCode {
  const told = printError(notStored(error), cli)
  return code === exitCodes.interrupted ? code : told
}

/** The error of the disk, with what it means for whoever has read the report. */
function notStored(error: PlimsollError): PlimsollError {
  return restated(error, {
    message: `${error.message}: what is printed above is not stored, or not whole`,
    hint: `${error.hint ?? 'make room, or give another place'} (--out DIR, --runs-dir DIR)`,
  })
}

/** The parser reads text only: what a text means is read later, with errors that say where it stood. */
function flagParameters(specs: FlagSpecs): Readonly<Record<string, object>> {
  const parameters: Record<string, object> = {}
  for (const [name, { kind, brief, ignored, refused }] of Object.entries(specs)) {
    if (ignored !== undefined || refused !== undefined) continue
    parameters[camel(name)] =
      kind === 'switch'
        ? { kind: 'boolean', optional: true, brief }
        : {
            kind: 'parsed',
            parse: String,
            optional: true,
            brief,
            ...(kind === 'list' ? { variadic: true } : {}),
          }
  }
  return parameters
}

function camel(kebab: string): string {
  return kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function kebabKeys(flags: Readonly<Record<string, unknown>>): FlagValues {
  const entries = Object.entries(flags).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([key, value]) => [kebab(key), value])) as FlagValues
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function helpFlag(
  name: string | null,
  verb: Verb | null,
  cli: CliContext,
): StricliIntegration<CommandContext> {
  return {
    flag: {
      brief: 'Print help and exit',
      aliases: ['h'],
      global: true,
      defaultForRouteMap: true,
      run() {
        const { color, columns } = cli.stdout
        cli.stdout.write(
          `${verb === null || name === null ? rootHelp(color) : verbHelp(name, verb, color, columns)}\n`,
        )
      },
    },
  }
}

function versionFlag(cli: CliContext): StricliIntegration<CommandContext> {
  return {
    flag: {
      brief: 'Print the version and exit',
      run() {
        cli.stdout.write(`${cli.version}\n`)
      },
    },
  }
}

/** Every word that could have been meant by a mistyped flag. */
function namesOf(all: FlagSpecs): string[] {
  const flags = Object.fromEntries(Object.entries(all).filter(([, { refused }]) => refused === undefined))
  const switches = Object.keys(flags).filter((name) => flags[name]!.kind === 'switch')
  return [...canonicalNames(flags).keys(), ...switches.map((name) => `no-${name}`), 'help']
}

const nothingSent = '     (exit 2; nothing was sent)'

/** The sentences of a mistyped command line: what was wrong, and the nearest right word. */
function messages(verb: Verb | null): ApplicationText {
  const didYouMean = (word: string | null): string => (word === null ? '' : `; did you mean ${word}?`)
  const flagNames = verb === null ? [] : namesOf(verb.flags)
  const version = '; plimsoll --version prints the version'
  return {
    ...text_en,
    noCommandRegisteredForInput({ input }) {
      const near = nearest(
        input,
        verbEntries.map((entry) => entry.name),
      )
      const list =
        near === null
          ? `; the verbs are ${verbEntries.map((entry) => entry.name).join(', ')}`
          : didYouMean(near)
      return `unknown verb ${input === '' ? '""' : input}${list}${nothingSent}`
    },
    exceptionWhileParsingArguments(error) {
      if (!(error instanceof ArgumentScannerError)) return String(error)
      return (
        formatMessageForArgumentScannerError(error, {
          FlagNotFoundError({ input }) {
            const name = kebab(input)
            if (name === 'version') return `unknown flag --version of a verb${version}`
            const meant = nearest(name, flagNames)
            return `unknown flag --${name}${didYouMean(meant === null ? null : `--${meant}`)}`
          },
          AliasNotFoundError: ({ input }) =>
            `unknown flag -${input}${input.toLowerCase() === 'v' ? version : ''}`,
          UnexpectedFlagError: ({ externalFlagName, previousInput, input }) =>
            `--${kebab(externalFlagName)} is given twice: ${previousInput} and ${input}`,
          UnexpectedPositionalError: ({ input }) =>
            `unexpected argument ${input === '' ? '""' : input}${didYouMean(input === 'help' ? '--help' : null)}`,
          UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is missing`,
          UnsatisfiedFlagError: ({ externalFlagName }) => `--${kebab(externalFlagName)} needs a value`,
          ArgumentParseError: ({ externalFlagNameOrPlaceholder, input }) =>
            `--${kebab(externalFlagNameOrPlaceholder)} cannot be "${input}"`,
        }) + nothingSent
      )
    },
    exceptionWhileLoadingCommandFunction: (error) => bug(error),
    exceptionWhileRunningCommand: (error) => bug(error),
  }
}

function bug(error: unknown): string {
  return error instanceof PlimsollError ? error.message : `PLIM_INTERNAL  ${String(error)}`
}
