import { PlimsollError } from '../../base/errors.ts'
import { parseCount, parseDurationMs } from '../../base/units.ts'
import type { ServeConfig } from '../../flows/scale-serve.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, list, readPort, text } from '../flags/flag-values.ts'
import { outputFlags } from '../flags/output-flags.ts'
import type { FlagValues, Invocation, Verb } from '../verb.ts'

const fleet = 'The fleet'
const server = 'The scaler'

export const scaleServeVerb: Verb = {
  brief: "KEDA's external scaler over gRPC, fed by the engines' own metrics",
  description:
    'Answers KEDA (trigger type external or external-push) with the requests in flight of the fleet. Unknown is not idle: while a replica is silent the last total stands, and when nothing was known for longer than --hold the poll fails, so that the fallback of the ScaledObject takes over. It is never 0 by silence.',
  positional: { placeholder: 'PART', brief: 'serve', minimum: 0, maximum: 1 },
  examples: [
    ['plimsoll scale serve --url http://localhost:8000 --target 20', 'one replica'],
    [
      'plimsoll scale serve --prometheus http://prometheus:9090 --target 20 --reserve 20',
      'a fleet, with one kept warm',
    ],
  ],
  flags: {
    url: {
      kind: 'list',
      group: fleet,
      brief: 'A replica, or its page of metrics; may be repeated',
      placeholder: 'URL',
      letter: 'u',
    },
    prometheus: {
      kind: 'text',
      group: fleet,
      brief: 'A Prometheus server that scrapes them instead',
      placeholder: 'URL',
    },
    'key-env': {
      kind: 'text',
      group: fleet,
      brief: 'Environment variable with the API key',
      placeholder: 'NAME',
      default: 'OPENAI_API_KEY',
    },
    target: {
      kind: 'text',
      group: server,
      brief: 'Requests in flight per replica (plimsoll scale policy gives it)',
      placeholder: 'N',
    },
    reserve: {
      kind: 'text',
      group: server,
      brief: 'Added to what is in flight: the warm pool',
      placeholder: 'N',
      default: '0',
    },
    host: {
      kind: 'text',
      group: server,
      brief: 'Address to listen on',
      placeholder: 'HOST',
      default: '127.0.0.1',
    },
    port: { kind: 'text', group: server, brief: 'Port; 0 takes any', placeholder: 'PORT', default: '6000' },
    'tls-cert': { kind: 'text', group: server, brief: 'PEM file of its certificate', placeholder: 'FILE' },
    'tls-key': { kind: 'text', group: server, brief: 'PEM file of its key', placeholder: 'FILE' },
    interval: { kind: 'text', group: server, brief: 'Between two looks', placeholder: 'TIME', default: '2s' },
    hold: {
      kind: 'text',
      group: server,
      brief: 'How long a last total stands in for silence',
      placeholder: 'TIME',
      default: '1m',
    },
    json: { ...outputFlags['json']!, brief: 'The address as JSON' },
    quiet: outputFlags['quiet']!,
  },
  run: serve,
}

async function serve({ flags, cli }: Invocation): Promise<ExitCode> {
  const config = readServeFlags(flags)
  const { noticesOf } = await import('../voice.ts')
  const voice = noticesOf({ flags, cli })
  const deps = await cli.flowDeps({ ...voice, stopping: '' })
  await cli.flows.serveScaler(config, {
    ...deps,
    onListening(address) {
      cli.stdout.write(
        isOn(flags, 'json') === true
          ? `${JSON.stringify({ scaler_address: address, target: config.target })}\n`
          : `scaler at ${address}, ${config.target} in flight a replica   Ctrl-C ends\n`,
      )
    },
  })
  return exitCodes.fine
}

/** What the flags of `scale serve` say. Every error names its flag. */
export function readServeFlags(flags: FlagValues): ServeConfig {
  const urls = list(flags, 'url')
  const prometheus = text(flags, 'prometheus')
  if (urls.length === 0 && prometheus === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'there is nothing to read the load from', {
      expected: '--url http://localhost:8000, or --prometheus http://localhost:9090',
    })
  }
  if (urls.length > 0 && prometheus !== undefined) {
    throw new PlimsollError('PLIM_USAGE', '--prometheus and --url are two ways to look', {
      expected: 'one of them',
    })
  }
  const target = text(flags, 'target')
  if (target === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'there is no target', {
      expected: '--target N: requests in flight per replica',
      hint: 'plimsoll scale policy SWEEP gives it',
    })
  }
  const certFile = text(flags, 'tls-cert')
  const keyFile = text(flags, 'tls-key')
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new PlimsollError('PLIM_USAGE', '--tls-cert and --tls-key go together')
  }
  return {
    urls,
    prometheusUrl: prometheus ?? null,
    keyEnv: text(flags, 'key-env') ?? 'OPENAI_API_KEY',
    host: text(flags, 'host') ?? '127.0.0.1',
    port: readPort(text(flags, 'port') ?? '6000', '--port', 0),
    tls: certFile === undefined || keyFile === undefined ? null : { certFile, keyFile },
    target: parseCount(target, '--target', 1),
    reserve: parseCount(text(flags, 'reserve') ?? '0', '--reserve', 0),
    intervalMs: Math.max(100, parseDurationMs(text(flags, 'interval') ?? '2s', '--interval')),
    holdMs: parseDurationMs(text(flags, 'hold') ?? '1m', '--hold'),
  }
}
