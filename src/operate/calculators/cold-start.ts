import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  plain,
  rateText,
  seconds,
  timeText,
  type Figure,
} from '../../stats/calculators/figures.ts'
import { assumed, needed, optional } from '../../stats/calculators/inputs.ts'
import { bandwidth, bytes, count, duration, rate } from '../../stats/calculators/quantities.ts'
import { formatBytes } from '../../base/units.ts'
import { backlog, fifoWait } from '../../stats/queueing.ts'
import {
  coldStartSeconds,
  quantizedBytes,
  shardedLoadSeconds,
  weightLoadSeconds,
} from '../scale/cold-start.ts'

export const coldStartCalculator: Calculator = calculator({
  name: 'cold-start',
  group: 'Scaling',
  brief: 'How long until a new replica serves, and what waits until then?',
  formula:
    'load ≥ weights ÷ bandwidth; total = load + schedule + init + warm-up, and up to one probe period; queue = (λ − μ) × T',
  inputs: {
    weights: needed(bytes, 'weights of the model', { bare: true, also: ['size', 'model'] }),
    bandwidth: needed(bandwidth, 'how fast they come: GB/s are bytes, Gb/s bits', {
      bare: true,
      also: ['speed', 'shared-link'],
    }),
    shards: assumed(count(1), '1', 'shards that load side by side', { also: ['tp'] }),
    'per-shard': optional(bandwidth, 'bandwidth of each shard, beside the shared --bandwidth', {
      also: ['per-gpu'],
    }),
    'from-bits': assumed(count(1), '16', 'bits of a weight as stored'),
    'to-bits': optional(count(1), 'bits of a weight after quantizing', { also: ['bits'] }),
    schedule: assumed(duration, '0', 'until the pod runs'),
    init: assumed(duration, '0', 'start of the engine, compiling, graphs'),
    warmup: assumed(duration, '0', 'first requests that nobody waits for', { also: ['warm-up'] }),
    probe: assumed(duration, '0', 'period of the readiness probe', { also: ['probe-period'] }),
    arrivals: optional(rate, 'arrivals meanwhile', { also: ['lambda'] }),
    completions: optional(rate, 'what is completed meanwhile', { also: ['mu', 'capacity'] }),
  },
  examples: [
    ['16GB 2GB/s', 'the least it can take'],
    ['16GB 2Gb/s', 'bits, not bytes'],
    ['16GB 2GB/s --to-bits 4', 'quantized'],
    ['16GB 2GB/s --schedule 5s --init 20s --warmup 7s --probe 10s', 'the whole start'],
    ['16GB 2GB/s --arrivals 10/s --completions 8/s', 'what queues meanwhile'],
    ['140GB 5GB/s --shards 4 --per-shard 2GB/s', 'four shards over one link'],
  ],
  work(i) {
    if (i.bandwidth.exact.num === 0n || i['per-shard']?.exact.num === 0n)
      throw impossible('nothing is loaded at 0 bytes a second', 'a bandwidth above 0', '0')
    const speed = (perSecond: number): string => `${formatBytes(perSecond)}/s`
    const working: string[] = []
    const from = i['from-bits']
    const to = i['to-bits']
    let weight = i.weights.value
    if (to !== null) {
      const smaller = quantizedBytes(weight, from, to)
      working.push(`${formatBytes(weight)} × ${plain(to)} ÷ ${plain(from)} bits = ${formatBytes(smaller)}`)
      weight = smaller
    }
    let load: number
    const perShard = i['per-shard']
    if (perShard !== null) {
      load = shardedLoadSeconds(weight, i.shards, perShard.value, i.bandwidth.value)
      working.push(
        `each shard ${formatBytes(weight / i.shards)} ÷ ${speed(perShard.value)} = ${timeText((1000 * weight) / i.shards / perShard.value)}; the shared link ${formatBytes(weight)} ÷ ${speed(i.bandwidth.value)} = ${timeText((1000 * weight) / i.bandwidth.value)}: the slower counts`,
      )
    } else {
      load = weightLoadSeconds(weight, i.bandwidth.value)
      working.push(`load ≥ ${formatBytes(weight)} ÷ ${speed(i.bandwidth.value)} = ${timeText(1000 * load)}`)
    }
    const total = coldStartSeconds({
      loadSeconds: load,
      scheduleSeconds: i.schedule.value / 1000,
      initSeconds: i.init.value / 1000,
      warmupSeconds: i.warmup.value / 1000,
      probePeriodSeconds: i.probe.value / 1000,
    })
    const results: Record<string, Figure> = {
      cold_start: seconds(1000 * total.min),
      cold_start_most: seconds(1000 * total.max),
      load: seconds(1000 * load),
    }
    const more = i.schedule.value + i.init.value + i.warmup.value + i.probe.value > 0
    if (more) {
      working.push(
        `total = ${timeText(1000 * load)} load + ${timeText(i.schedule.value)} schedule + ${timeText(i.init.value)} init + ${timeText(i.warmup.value)} warm-up = ${timeText(1000 * total.min)}, seen up to ${timeText(i.probe.value)} later: ${timeText(1000 * total.max)}`,
      )
    }
    if ((i.arrivals === null) !== (i.completions === null))
      throw impossible('arrivals and completions belong together', '--arrivals RATE --completions RATE')
    if (i.arrivals !== null && i.completions !== null) {
      const queue = backlog(i.arrivals.value, i.completions.value, total.max)
      const wait = fifoWait(queue, i.completions.value)
      results['queue'] = countFigure(queue, 'requests')
      results['wait'] = seconds(wait === null ? null : 1000 * wait, 'for ever: nothing is completed')
      working.push(
        `meanwhile (${rateText(i.arrivals.value)} − ${rateText(i.completions.value)}) × ${timeText(1000 * total.max)} = ${plain(queue)} queue; the last of them waits ${wait === null ? 'for ever' : `${plain(queue)} ÷ ${rateText(i.completions.value)} = ${timeText(1000 * wait)}`}`,
      )
    }
    return {
      answer:
        total.min === total.max
          ? `${more ? '' : 'at least '}${timeText(1000 * total.min)}`
          : `${timeText(1000 * total.min)} to ${timeText(1000 * total.max)}`,
      results,
      working,
      assumptions: [
        'the bandwidth is what the weights really get: disk, network and PCIe, the slowest of them',
        'GB is 10⁹ bytes, GiB 2³⁰',
      ],
      mistake:
        'the load alone: scheduling, engine start, warm-up and the probe are often more; and Gb/s are an eighth of GB/s',
      next: ['plimsoll calc trigger', 'plimsoll calc backlog'],
    }
  },
})
