import { PlimsollError } from '../../base/errors.ts'
import {
  exactRatePerSecond,
  exactShare,
  parseBytes,
  parseCount,
  parseDurationMs,
  parseNumber,
} from '../../base/units.ts'
import type { PlanClassConfig, PlanConfig } from '../../flows/plan-config.ts'
import type { PlanFile } from '../../flows/plan-file.ts'
import { coldStartSeconds, weightLoadSeconds } from '../../operate/scale/cold-start.ts'
import { routerKinds } from '../../simulate/fleet/fleet-spec.ts'
import { divide, toDecimalText, toRational } from '../../stats/rational.ts'
import type { FlagValues } from '../verb.ts'
import { isOn, list, oneOf, text } from './flag-values.ts'
import { flagsOver } from './watched-flags.ts'

/** What the flags of `plan` say, and its file where they are silent. Every error names its flag, or its place in the file. */
export function readPlanFlags(
  flags: FlagValues,
  sweeps: readonly string[],
  file: PlanFile | null = null,
): PlanConfig {
  const each = text(flags, 'each')
  if (each !== undefined && sweeps.length > 0) {
    throw new PlimsollError('PLIM_USAGE', '--each and a sweep both say what one replica carries', {
      expected: 'one of them',
    })
  }
  const said = (
    flag: 'peak' | 'margin' | 'survive',
  ): { readonly value: string; readonly what: string } | null => {
    const value = text(flags, flag)
    if (value !== undefined) return { value, what: `--${flag}` }
    const filed = file?.[flag] ?? null
    return filed === null ? null : { value: filed, what: `capacity.${flag} of ${file?.path ?? ''}` }
  }
  const peak = said('peak')
  const margin = said('margin')
  const survive = said('survive')
  const classes = list(flags, 'class').map(readClass)
  if (peak === null && classes.length === 0) {
    throw new PlimsollError('PLIM_USAGE', 'there is no demand to plan for', {
      expected: '--peak 40/s, or capacity: { peak: 40/s } in plimsoll.yaml',
    })
  }
  const count = (name: string, minimum: number, fallback: number): number => {
    const value = text(flags, name)
    return value === undefined ? fallback : parseCount(value, `--${name}`, minimum)
  }
  const maybeCount = (name: string): number | null =>
    text(flags, name) === undefined ? null : count(name, 1, 0)
  const share = (name: string): string | null => {
    const value = text(flags, name)
    return value === undefined ? null : exactShare(value, `--${name}`)
  }
  // A rate that was typed has no page, no limits and nothing to deploy.
  const swept = each === undefined ? flags : without(flags, ofASweep)
  const wait = text(swept, 'max-wait')
  const burst = text(flags, 'burst')
  const prefill = text(swept, 'prefill-rate')
  const price = text(flags, 'price')
  const imbalance = text(flags, 'imbalance')
  if (price !== undefined) parseNumber(price, '--price')
  if (imbalance !== undefined) parseNumber(imbalance, '--imbalance')
  return {
    sweeps,
    each: each === undefined ? null : readRate(each, '--each'),
    peak: peak === null ? null : readRate(peak.value, peak.what),
    classes,
    margin: readMargin(margin?.value ?? '0', margin?.what),
    imbalance: imbalance ?? '1',
    failures: survive === null ? 0 : parseCount(survive.value, survive.what, 0),
    zones:
      text(flags, 'zones') === undefined
        ? null
        : { count: count('zones', 1, 1), lost: count('survive-zones', 0, 1) },
    gpusPerReplica: count('tensor-parallel', 1, 1),
    burstWindowSeconds: burst === undefined ? null : parseDurationMs(burst, '--burst') / 1000,
    pricePerGpuHour: price ?? null,
    availability: share('availability'),
    wantedAvailability: text(flags, 'availability') === undefined ? null : share('want-up'),
    maxNumSeqs: text(swept, 'max-num-seqs') === undefined ? null : count('max-num-seqs', 1, 0),
    testedMaxNumSeqs: text(swept, 'max-num-seqs') === undefined ? null : maybeCount('tested-max-num-seqs'),
    maxWaitMs: wait === undefined ? null : parseDurationMs(wait, '--max-wait'),
    prefillTokensPerSecond: prefill === undefined ? null : readTokenRate(prefill),
    gpu: text(swept, 'gpu') ?? null,
    engineArgs: text(swept, 'engine-args') ?? null,
    expiresAfterDays: parseDurationMs(text(swept, 'expires') ?? '90d', '--expires') / 86_400_000,
    // The ramp is of the scalers alone, which are written.
    ...readStart(text(flags, 'out') === undefined ? without(swept, ['ramp']) : swept),
    file,
    simulate: readTrial(flags),
    out: text(flags, 'out') ?? null,
    force: text(flags, 'out') === undefined ? false : (isOn(flags, 'force') ?? false),
  }
}

/** What only a measured operating point has a use for. */
const ofASweep = [
  'max-wait',
  'prefill-rate',
  'max-num-seqs',
  'gpu',
  'engine-args',
  'expires',
  'ramp',
  'cold-start',
  'weights',
  'bandwidth',
  'schedule',
  'init',
  'warm-up',
  'probe',
]

function without(flags: FlagValues, names: readonly string[]): FlagValues {
  return flagsOver(flags, Object.fromEntries(names.map((name) => [name, undefined])))
}

const routers = Object.fromEntries(routerKinds.map((kind) => [kind, kind] as const))

const trialFlags = ['model', 'traffic', 'prompt', 'output', 'slo', 'router', 'seed'] as const

/** What the plan is tried on, or null. */
function readTrial(flags: FlagValues): PlanConfig['simulate'] {
  if (isOn(flags, 'simulate') !== true) {
    const [idle] = trialFlags.filter((name) => flags[name] !== undefined)
    if (idle === undefined) return null
    throw new PlimsollError('PLIM_USAGE', `--${idle} says something of a simulated day, and there is none`, {
      expected: `--simulate beside --${idle}`,
    })
  }
  return {
    model: text(flags, 'model') ?? null,
    traffic: text(flags, 'traffic') ?? null,
    prompt: text(flags, 'prompt') ?? null,
    output: text(flags, 'output') ?? null,
    objectives: list(flags, 'slo'),
    router: oneOf(text(flags, 'router') ?? 'least-loaded', '--router', routers),
    seed: text(flags, 'seed') ?? '1',
  }
}

/** `derate:20%`, `uplift:0.2`, or a bare share whose reading is not said. A margin of 0 reads the same both ways. */
export function readMargin(value: string, what = '--margin'): PlanConfig['margin'] {
  const match = /^(?:(derate|uplift):)?(.+)$/.exec(value.trim())
  const share = exactShare(match?.[2] ?? '', what)
  if (match?.[1] === undefined) return { share, kind: Number(share) === 0 ? 'derate' : 'unsaid' }
  return { share, kind: match[1] as 'derate' | 'uplift' }
}

/** Requests per second as an exact fraction's text. */
export function readRate(value: string, flag: string): string {
  const [numerator, denominator] = exactRatePerSecond(value, flag)
  return denominator === '1' ? numerator : `${numerator}/${denominator}`
}

function readTokenRate(value: string): string {
  const match = /^([\d.,]+[kM]?)(?:\s*(?:tok|tokens)?\/s)?$/.exec(value.trim())
  return String(parseCount(match?.[1] ?? value, '--prefill-rate', 1))
}

function readClass(value: string): PlanClassConfig {
  const match = /^([^=@]+)=([^@]+)(?:@(.+))?$/.exec(value)
  if (match === null) {
    throw new PlimsollError('PLIM_USAGE', '--class cannot be read', {
      expected: '--class chat=30/s, or chat=30/s@runs/1129-1501-sweep',
      received: `"${value}"`,
    })
  }
  return { name: match[1]!.trim(), peak: readRate(match[2]!, '--class'), sweep: match[3] ?? null }
}

/** The ramp of the demand and the start of a replica, as `plan` and `scale policy` take them. */
export function readStart(flags: FlagValues): Pick<PlanConfig, 'rampPerSecond' | 'coldStart'> {
  const ramp = text(flags, 'ramp')
  return { rampPerSecond: ramp === undefined ? null : readRamp(ramp), coldStart: readColdStart(flags) }
}

/** `0.1/s2`, `0.1/s/s` or `6/s/min`: requests per second each second, exact. */
function readRamp(value: string): string {
  const match = /^([\d.]+)\s*\/\s*s(?:\s*(2|²)|\s*\/\s*(s|min|h))?$/i.exec(value.trim())
  if (match === null) {
    throw new PlimsollError('PLIM_NUMBER', '--ramp cannot be read', {
      expected: '0.1/s each second as 0.1/s/s, or 6/s/min',
      received: `"${value}"`,
    })
  }
  const per = { s: 1, min: 60, h: 3600 }[match[3]?.toLowerCase() ?? 's'] ?? 1
  return toDecimalText(divide(toRational(match[1]!), toRational(per)), 12)
}

function readColdStart(flags: FlagValues): PlanConfig['coldStart'] {
  const measured = text(flags, 'cold-start')
  const seconds = (name: string, fallback: string): number =>
    parseDurationMs(text(flags, name) ?? fallback, `--${name}`) / 1000
  if (measured !== undefined) {
    const [low = '', high = low] = measured.split(/[-–]/)
    return {
      minSeconds: parseDurationMs(low, '--cold-start') / 1000,
      maxSeconds: parseDurationMs(high, '--cold-start') / 1000,
    }
  }
  const weights = text(flags, 'weights')
  const bandwidth = text(flags, 'bandwidth')
  if (weights === undefined && bandwidth === undefined) return null
  if (weights === undefined || bandwidth === undefined) {
    throw new PlimsollError('PLIM_USAGE', 'a start takes the weights and the bandwidth', {
      expected: '--weights 16GB --bandwidth 2GB/s',
    })
  }
  const { min, max } = coldStartSeconds({
    loadSeconds: weightLoadSeconds(parseBytes(weights, '--weights'), readBandwidth(bandwidth)),
    scheduleSeconds: seconds('schedule', '0'),
    initSeconds: seconds('init', '0'),
    warmupSeconds: seconds('warm-up', '0'),
    probePeriodSeconds: seconds('probe', '10s'),
  })
  return { minSeconds: min, maxSeconds: max }
}

/** Bytes per second: `2GB/s`, `2GiB/s`; bits where it says so, `16Gbit/s` and `16Gb/s`. */
export function readBandwidth(value: string): number {
  const match = /^([\d.,]+)\s*([kKMGT]?)(i?)(B|bit|b)\/s$/.exec(value.trim())
  if (match === null) {
    throw new PlimsollError('PLIM_NUMBER', '--bandwidth cannot be read', {
      expected: '2GB/s, 2GiB/s or 16Gbit/s',
      received: `"${value}"`,
    })
  }
  const bytes = parseBytes(
    `${match[1]}${match[2]!.toUpperCase()}${match[2] === '' ? '' : match[3]}B`,
    '--bandwidth',
  )
  return match[4] === 'B' ? bytes : bytes / 8
}
