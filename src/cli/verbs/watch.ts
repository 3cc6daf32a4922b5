import { PlimsollError } from '../../base/errors.ts'
import { parseCount, parseDurationMs } from '../../base/units.ts'
import type { WatchConfig } from '../../flows/watch.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, list, text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import type { FlagValues, Invocation, Verb } from '../verb.ts'

const where = 'What is watched'
const what = 'What is judged'
const how = 'How'
const notRecorded = 'nothing is kept without --record'

export const watchVerb: Verb = {
  brief: 'A live deployment',
  description:
    'Reads the metrics of running replicas again and again: requests that run and wait, KV, TTFT, TPOT, the share that meets each objective (jointly only as bounds: separate histograms cannot tell), burn in two windows, the distance to each wall, and the pages that would be out. A replica that does not answer is unknown, not idle.',
  examples: [
    ['plimsoll watch --url http://localhost:8000', 'one replica, until Ctrl-C'],
    [
      "plimsoll watch --url a:8000 --url b:8000 --slo 'ttft < 500ms and tpot < 50ms, good 99%'",
      'a fleet and its objective',
    ],
    ['plimsoll watch --prometheus http://localhost:9090 --count 1', 'one look, through a Prometheus server'],
    ['plimsoll watch --url http://localhost:8000 --record', 'kept for plimsoll scale signals'],
  ],
  flags: {
    url: {
      kind: 'list',
      group: where,
      brief: 'A replica, or its page of metrics; may be repeated',
      placeholder: 'URL',
      letter: 'u',
      aliases: ['metrics-url'],
    },
    'machine-url': {
      kind: 'list',
      group: where,
      brief: 'node-exporter or DCGM beside it',
      placeholder: 'URL',
    },
    prometheus: {
      kind: 'text',
      group: where,
      brief: 'A Prometheus server that scrapes them instead',
      placeholder: 'URL',
    },
    'key-env': {
      kind: 'text',
      group: where,
      brief: 'Environment variable with the API key',
      placeholder: 'NAME',
      default: 'OPENAI_API_KEY',
    },
    slo: {
      kind: 'list',
      group: what,
      brief: 'Objective: "ttft < 500ms and tpot < 30ms, good 99.5%"',
      placeholder: 'TEXT',
      aliases: ['objective'],
    },
    windows: {
      kind: 'text',
      group: what,
      brief: 'The two windows of the burn',
      placeholder: 'SHORT,LONG',
      default: '5m,1h',
    },
    sweep: { kind: 'text', group: what, brief: 'A sweep whose walls are compared', placeholder: 'DIR' },
    interval: {
      kind: 'text',
      group: how,
      brief: 'Between two looks',
      placeholder: 'TIME',
      letter: 'i',
      default: '2s',
    },
    count: { kind: 'text', group: how, brief: 'Looks, then it ends', placeholder: 'N', letter: 'n' },
    record: { kind: 'switch', group: how, brief: 'Keep what is seen in a run folder' },
    name: {
      kind: 'text',
      group: how,
      brief: 'Name of that folder',
      placeholder: 'NAME',
      default: 'watch',
      idle: notRecorded,
    },
    'runs-dir': {
      kind: 'text',
      group: how,
      brief: 'Where it is made',
      placeholder: 'DIR',
      default: 'runs',
      idle: notRecorded,
    },
    out: { kind: 'text', group: how, brief: 'Exactly this folder', placeholder: 'DIR', letter: 'o' },
    json: { ...outputFlags['json']!, brief: 'One JSON document a look, each on a line' },
    quiet: outputFlags['quiet']!,
  },
  run: watch,
}

async function watch(invocation: Invocation): Promise<ExitCode> {
  const { flags, cli } = invocation
  const config = readWatchFlags(flags)
  const [{ commandLine }, { renderWatch, renderWatchLine }, { savedWords }, { noticesOf }] =
    await Promise.all([
      import('../../report/command-line.ts'),
      import('../../report/watch-screen.ts'),
      import('../../report/saved-words.ts'),
      import('../voice.ts'),
    ])
  const voice = noticesOf({ flags, cli })
  const json = isOn(flags, 'json') === true
  const redraw = cli.stdout.isTerminal && !json
  // The whole screen where it is looked at, or where there is one look; else a line a look.
  const whole = redraw || config.count === 1
  const deps = await cli.flowDeps({ ...voice, stopping: '' })
  const outcome = await cli.flows.watchFlow(config, {
    ...deps,
    async onLook(document) {
      if (json) await cli.stdout.writeAll(`${JSON.stringify(document)}\n`)
      else if (whole) {
        if (redraw && config.count !== 1) cli.stdout.write('\u001B[H\u001B[J')
        cli.stdout.say(renderWatch(document, { color: cli.stdout.color }))
      } else await cli.stdout.writeAll(renderWatchLine(document))
    },
  })
  const { folder } = outcome
  if (folder !== null) {
    const reading = [commandLine('scale', 'signals', folder)]
    voice.onNotice(savedWords(folder, { isStored: invocation.isStored() }, reading).join(' · '))
  }
  return exitCodes.fine
}

/** What the flags of `watch` say. Every error names its flag. */
export function readWatchFlags(flags: FlagValues): WatchConfig {
  const urls = list(flags, 'url')
  const prometheus = text(flags, 'prometheus')
  if (urls.length === 0 && prometheus === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'there is nothing to watch', {
      expected: '--url http://localhost:8000, or --prometheus http://localhost:9090',
    })
  }
  const machineUrls = list(flags, 'machine-url')
  if (prometheus !== undefined && urls.length + machineUrls.length > 0) {
    throw new PlimsollError('PLIM_USAGE', '--prometheus and the addresses of pages are two ways to look', {
      expected: 'one of them',
    })
  }
  const count = text(flags, 'count')
  const record = isOn(flags, 'record') ?? text(flags, 'out') !== undefined
  const windows = (text(flags, 'windows') ?? '5m,1h')
    .split(',')
    .map((part) => parseDurationMs(part, '--windows'))
  if (windows.length !== 2 || (windows[0] ?? 0) <= 0 || (windows[0] ?? 0) >= (windows[1] ?? 0)) {
    throw new PlimsollError('PLIM_USAGE', '--windows takes a short and a long one', {
      expected: '--windows 5m,1h',
    })
  }
  const intervalMs = parseDurationMs(text(flags, 'interval') ?? '2s', '--interval')
  if (intervalMs < 100) {
    throw new PlimsollError('PLIM_USAGE', '--interval is too short to read a page in', {
      expected: 'at least 100ms',
    })
  }
  return {
    urls,
    machineUrls,
    prometheusUrl: prometheus ?? null,
    keyEnv: text(flags, 'key-env') ?? 'OPENAI_API_KEY',
    objectives: list(flags, 'slo'),
    windowsMs: windows,
    intervalMs,
    count: count === undefined ? null : parseCount(count, '--count', 1),
    sweep: text(flags, 'sweep') ?? null,
    record,
    name: (record ? text(flags, 'name') : undefined) ?? 'watch',
    runsDir: (record ? text(flags, 'runs-dir') : undefined) ?? 'runs',
    out: (record ? text(flags, 'out') : undefined) ?? null,
  }
}
