import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import {
  countFigure,
  none,
  plain,
  shareFigure,
  shareText,
  wordFigure,
} from '../../stats/calculators/figures.ts'
import { assumed, several } from '../../stats/calculators/inputs.ts'
import { count, number, share } from '../../stats/calculators/quantities.ts'
import { wvaDefaults, wvaSaturation } from '../scale/wva.ts'
import { endpointLoad } from './gate.ts'

const says = { up: 'one more replica', down: 'one replica fewer', hold: 'as it is' } as const

export const wvaCalculator: Calculator = calculator({
  name: 'wva',
  group: 'Scaling',
  brief: "Does llm-d's variant autoscaler order a replica?",
  formula: 'over replicas that are not saturated: up where mean(0.8 − KV) < 0.1 or mean(5 − queue) < 3',
  inputs: {
    replicas: several(endpointLoad, 1, 'queue and KV usage of each replica', { bare: true }),
    pending: assumed(count(0), '0', 'pods that still start', { also: ['loading'] }),
    kv: assumed(share, String(wvaDefaults.kvCache), 'KV usage at which one is saturated'),
    queue: assumed(number, String(wvaDefaults.queueLength), 'queue at which one is saturated'),
    'kv-spare': assumed(share, String(wvaDefaults.kvSpare), 'mean spare KV that has to be left'),
    'queue-spare': assumed(number, String(wvaDefaults.queueSpare), 'mean spare queue that has to be left'),
  },
  examples: [
    ['0:0.65 0:0.72', 'enough spare'],
    ['0:0.65 0:0.75', 'spare 0.10000000000000003 is not under 0.1'],
    ['0:0.95 0:0.2', 'a saturated replica hides behind an idle one'],
    ['0:0.75 0:0.72 --pending 1', 'it waits for the one that starts'],
  ],
  work({ replicas, pending, kv, queue, 'kv-spare': kvSpare, 'queue-spare': queueSpare }) {
    const loads = replicas.map(([waiting, used]) => ({ queue: waiting.value, kv: used.value }))
    const decision = wvaSaturation(loads, pending, {
      kvCache: kv.value,
      queueLength: queue.value,
      kvSpare: kvSpare.value,
      queueSpare: queueSpare.value,
    })
    const all = 'all are saturated'
    return {
      answer: says[decision.action],
      results: {
        action: wordFigure(decision.action),
        spare_kv: shareFigure(decision.spareKv, all),
        spare_queue:
          decision.spareQueue === null ? none('requests', all) : countFigure(decision.spareQueue, 'requests'),
        saturated: countFigure(decision.saturated, 'replicas'),
      },
      working: [
        `${plain(decision.saturated)} of ${plain(loads.length)} saturated (KV ≥ ${shareText(kv.value)} or queue ≥ ${plain(queue.value)})`,
        decision.spareKv === null || decision.spareQueue === null
          ? all
          : `the others have ${shareText(decision.spareKv)} KV and ${plain(decision.spareQueue)} of queue to spare, on the mean; in doubles ${String(decision.spareKv)} ${decision.spareKv < kvSpare.value ? '<' : '≥'} ${String(kvSpare.value)}`,
        ...(pending > 0 ? [`${plain(pending)} still start: no order meanwhile`] : []),
      ],
      assumptions: ['version 1, by KV and queue; the cheapest variant grows and the dearest shrinks'],
      mistake:
        'the mean leaves out those that are saturated: one full replica beside an idle one looks like plenty',
      next: ['plimsoll calc gate', 'plimsoll calc hpa'],
    }
  },
})
