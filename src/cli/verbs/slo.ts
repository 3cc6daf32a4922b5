import { PlimsollError } from '../../base/errors.ts'
import { nearest } from '../../base/edit-distance.ts'
import type { ExitCode } from '../exit-codes.ts'
import { sloFlags } from '../flags/slo-flags.ts'
import type { SloAction } from '../flows.ts'
import type { Invocation, Verb } from '../verb.ts'

const action =
  (name: SloAction) =>
  (invocation: Invocation): Promise<ExitCode> =>
    invocation.cli.flows.slo(name, invocation)

const filesArgument = {
  placeholder: 'FILE',
  brief: 'plimsoll.yaml with objectives, or OpenSLO; ./plimsoll.yaml without it',
  minimum: 0,
} as const

const page: Verb = {
  brief: 'Should someone be paged?',
  description:
    'Answers from typed shares or counts, or from what a Prometheus server has counted, with the reason. An alert needs both of its windows; what is not known is not taken for health. Exit 3 for a page, 5 where it cannot be told.',
  positional: filesArgument,
  examples: [
    [
      'plimsoll slo page --objective 99.5% --window 30d --long 3% --short 4.1%',
      'typed shares of 1 h and 5 m',
    ],
    ['plimsoll slo page --objective 99.9% --at 1h=36/1200 --at 5m=4/100', 'typed counts'],
    ['plimsoll slo page plimsoll.yaml --prometheus http://localhost:9090', 'live'],
  ],
  flags: sloFlags.page,
  run: action('page'),
}

const budget: Verb = {
  brief: 'How much may still go wrong, and how long does it last?',
  description:
    'The error budget from typed numbers, from a run, or from a Prometheus server: in requests, what was spent of it, the burn with an interval, and the time left. Exit 3 when it is gone.',
  positional: {
    placeholder: 'RUN or FILE',
    brief: 'A run folder, or a plimsoll.yaml beside --prometheus',
    minimum: 0,
  },
  examples: [
    ['plimsoll slo budget --objective 99.5% --requests 2M --bad 2500', 'typed numbers'],
    ['plimsoll slo budget --objective 99.5% --bad-share 3% --elapsed 1h', 'what an hour costs'],
    ["plimsoll slo budget runs/1129-1436-run --slo 'ttft < 500ms, good 99.5%'", 'the requests of a run'],
    ['plimsoll slo budget plimsoll.yaml --prometheus http://localhost:9090', 'live'],
  ],
  flags: sloFlags.budget,
  run: action('budget'),
}

const rules: Verb = {
  brief: 'Prometheus rules, tests and a dashboard',
  description:
    'Makes recording and alerting rules of the objectives: event-weighted, safe where nothing comes or a series is absent. Each alert is checked first: can it fire, at how few requests does one failure page, when does it see an outage. One that can never fire is refused.',
  positional: filesArgument,
  examples: [
    ['plimsoll slo rules plimsoll.yaml', 'the rule file on stdout, the checks on stderr'],
    ['plimsoll slo rules plimsoll.yaml --out deploy/slo', 'rules, tests, PrometheusRule, dashboard, OpenSLO'],
    ['plimsoll slo rules plimsoll.yaml --engine sglang --policy lesson --format crd', 'for the operator'],
  ],
  flags: sloFlags.rules,
  run: action('rules'),
}

const test: Verb = {
  brief: 'Test the rules with promtool',
  description:
    'Makes promtool tests of the rules (outage, slow burn, blip, idle, absent series, fresh series, counter reset, low traffic) and runs them where promtool is there. Exit 3 when one fails.',
  positional: filesArgument,
  examples: [
    ['plimsoll slo test plimsoll.yaml', 'in a folder that is removed afterwards'],
    ['plimsoll slo test plimsoll.yaml --out deploy/slo', 'and keep the files'],
  ],
  flags: sloFlags.test,
  run: action('test'),
}

const actions: Readonly<Record<SloAction, Verb>> = { budget, page, rules, test }

export const sloVerb: Verb = {
  brief: 'Error budgets and their alerts',
  description:
    'budget: how much may still go wrong. page: should someone be woken. rules: what Prometheus has to load. test: do the rules do what they should. plimsoll slo NAME --help tells more.',
  positional: { placeholder: 'budget | page | rules | test', brief: 'Which of them', minimum: 0 },
  examples: Object.values(actions).flatMap(({ examples }) => examples.slice(0, 1)),
  flags: {},
  select(name) {
    const found = Object.hasOwn(actions, name) ? actions[name as SloAction] : undefined
    if (found !== undefined) {
      const { run } = found
      // The first argument was the name.
      return { ...found, run: (invocation) => run({ ...invocation, args: invocation.args.slice(1) }) }
    }
    const near = nearest(name, Object.keys(actions))
    throw new PlimsollError('PLIM_USAGE', `slo has no ${name}`, {
      expected: Object.keys(actions).join(', '),
      ...(near === null ? {} : { hint: `did you mean plimsoll slo ${near}?` }),
    })
  },
  run({ cli }) {
    for (const [name, { brief }] of Object.entries(actions))
      cli.stdout.say(`  slo ${name.padEnd(6)}  ${brief}\n`)
    cli.stdout.say('plimsoll slo NAME --help tells more\n')
    return Promise.resolve(0)
  },
}
