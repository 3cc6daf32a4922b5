import { describe, expect, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { prepareArguments } from './argv.ts'
import { verbEntries } from './verbs/registry.ts'

/** Every letter of every verb, and of what a verb becomes by its first word. */
async function letters() {
  const parts: Readonly<Record<string, readonly string[]>> = {
    model: ['measure'],
    slo: ['budget', 'page', 'rules', 'test'],
    scale: ['signals', 'policy', 'serve'],
  }
  const verbs = await Promise.all(
    verbEntries.map(async ({ name, load }) => {
      const verb = await load()
      const more = (parts[name] ?? []).map((part) => verb.select!(part))
      return [verb, ...more].map(({ flags }) => ({ name, flags }))
    }),
  )
  return verbs
    .flat()
    .flatMap(({ name, flags }) =>
      Object.entries(flags).flatMap(([flag, { letter, kind }]) =>
        letter === undefined ? [] : [{ verb: name, flags, flag, letter, kind }],
      ),
    )
}

describe('a flag by its letter', () => {
  test('takes its value behind it, with = or with nothing between, whichever verb has it', async () => {
    const all = await letters()
    expect(all.length).toBeGreaterThan(30)
    for (const { verb, flags, flag, letter, kind } of all) {
      if (kind === 'switch') continue
      const said = [[`-${letter}`, '7x'], [`-${letter}7x`], [`-${letter}=7x`]].map(
        (words) => prepareArguments(words, flags, {}).args,
      )
      const wanted = [`--${flag}=7x`]
      expect([verb, letter, ...said]).toEqual([verb, letter, wanted, wanted, wanted])
    }
  })

  test.each<[string, readonly string[], readonly string[]]>([
    ['a value with = in it', ['-H=X-Team=a', '-HX-Tier=1'], ['--header=X-Team=a', '--header=X-Tier=1']],
    ['a negative value', ['-r=-5'], ['--request-rate=-5']],
    ['switches together', ['-qyk'], ['--quiet', '--yes', '--insecure']],
    ['switches, and a value behind the last', ['-qr6'], ['--quiet', '--request-rate=6']],
    ['a switch that is turned off', ['-q=false'], ['--quiet=false']],
    ['help among them is left for the parser', ['-qh'], ['--quiet', '-h']],
    ['a letter that nobody knows is too', ['-z5'], ['-z5']],
    ['a lone dash is no flag', ['-', '-5'], ['-', '-5']],
  ])('%s', async (_, words, args) => {
    const { flags } = await verbEntries.find(({ name }) => name === 'run')!.load()
    expect(prepareArguments(words, flags, {}).args).toEqual(args)
  })

  test.each([
    ['a value for a switch', ['-q5'], '-q takes no value\n  expected -q, or --quiet\n  received -q5'],
    ['no value', ['-r='], '--request-rate needs a value'],
    ['a flag where a value should be', ['-u', '-r6'], '--url needs a value'],
    ['a long name behind one dash', ['-duration=5s'], 'unknown flag -duration; did you mean --duration?'],
    ['another name of it', ['-num-prompts', '5'], 'unknown flag -num-prompts; did you mean --num-prompts?'],
    ['a letter that nobody knows', ['-z=5'], 'unknown flag -z'],
  ])('is refused with what to type: %s', async (_, words, said) => {
    const { exitCode, stderr, run } = await cliRun(['run', ...words])
    expect(stderr).toContain(said)
    expect({ exitCode, run }).toEqual({ exitCode: 2, run: null })
  })

  test('is read like its long name', async () => {
    for (const words of [['-r', '5'], ['-r5'], ['-r=5'], ['--request-rate=5']]) {
      const { run } = await cliRun(['run', ...words])
      expect(run?.pacer).toEqual({ kind: 'poisson', ratePerSecond: 5 })
    }
  })
})
