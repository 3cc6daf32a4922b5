import { calculator, impossible, type Calculator } from '../../stats/calculators/calculator.ts'
import { numberFigure, plain, shareText, wordFigure } from '../../stats/calculators/figures.ts'
import { assumed, several, type Reading } from '../../stats/calculators/inputs.ts'
import { number, pair, share, type Quantity } from '../../stats/calculators/quantities.ts'
import { endpointSaturation, poolSaturation, type EndpointLoad } from '../admission/endpoint-gate.ts'

/** `3:0.7` or `3:70%`: requests in the queue, share of the KV pool. */
export const endpointLoad: Reading<readonly [Quantity, Quantity]> = pair(number, share, 'QUEUE:KV')

const endpointOrStale: Reading<EndpointLoad | null> = {
  placeholder: 'QUEUE:KV|stale',
  read(text, what) {
    if (text.trim().toLowerCase() === 'stale') return null
    const [queue, kv] = endpointLoad.read(text, what)
    return { queue: queue.value, kv: kv.value }
  },
}

export const gateCalculator: Calculator = calculator({
  name: 'gate',
  group: 'Admission',
  brief: "Does llm-d's endpoint picker let a request in?",
  formula: 'endpoint = max(queue ÷ 5, KV ÷ 0.8); pool = plain mean; closed at 1',
  inputs: {
    endpoints: several(endpointOrStale, 1, 'queue and KV usage of each engine, or stale', { bare: true }),
    queue: assumed(number, '5', 'queue at which an endpoint is full'),
    kv: assumed(share, '0.8', 'KV usage at which it is full'),
  },
  examples: [
    ['0:0.4 10:0.8', 'one long queue closes the gate for all'],
    ['2:0.6 3:0.7', 'open'],
    ['0:0.2 stale stale stale', 'what is not known counts as full'],
  ],
  work({ endpoints, queue, kv }) {
    if (queue.exact.num === 0n || kv.exact.num === 0n)
      throw impossible('an endpoint is full at more than nothing', '--queue and --kv above 0', '0')
    const thresholds = { queue: queue.value, kv: kv.value }
    const { saturation, gated } = poolSaturation(endpoints, thresholds)
    const each = endpoints.map((endpoint) => endpointSaturation(endpoint, thresholds))
    return {
      answer: gated ? 'closed: the request waits or is refused' : 'open',
      results: {
        saturation: numberFigure(saturation),
        gated: wordFigure(gated),
        stale: numberFigure(endpoints.filter((endpoint) => endpoint === null).length),
      },
      working: [
        ...endpoints.map((endpoint, at) =>
          endpoint === null
            ? 'stale: counts as 1'
            : `max(${plain(endpoint.queue)} ÷ ${plain(queue.value)}, ${shareText(endpoint.kv)} ÷ ${shareText(kv.value)}) = ${plain(each[at]!)}`,
        ),
        `mean of ${endpoints.length} = ${plain(saturation ?? 0)}, ${gated ? 'not below' : 'below'} 1`,
      ],
      assumptions: [
        'the utilisation detector with its own thresholds; flow control is off unless it is turned on',
      ],
      mistake:
        'a plain mean: one engine with a long queue closes the gate for idle ones, and an outage of the scrapes closes it for everybody',
      next: ['plimsoll calc ceilings', 'plimsoll doctor'],
    }
  },
})
