import { noun } from '../base/noun.ts'
import { formatCount, formatPercent, formatRate, formatSpan } from '../base/units.ts'
import type { PlanDocument } from './plan-document.ts'
import { comfortText, hurtText, otherText, peakText, shareText } from './plan-simulation-text.ts'
import type { PlanCase, PlanSimulation } from './plan-simulation.ts'
import { printable } from './printable.ts'

/** The section of the capacity page. */
export function simulationSection(simulation: PlanSimulation): string {
  const [plan] = simulation.cases
  if (plan === undefined) return ''
  const lines = [
    `- **the plan ${plan.survives ? 'survives' : 'FAILS'}**: ${plan.killed === 0 ? 'no replica lost' : `${plan.killed} of ${plan.replicas} ${noun(plan.replicas, 'replica')} killed when the day is busiest`}`,
    ...plan.objectives.map((share) => `  - ${text(shareText(share, plan))}`),
    `  - ${comfortText(plan)}, ${formatRate(plan.goodput_per_s)} of good answers`,
    ...simulation.cases.slice(1).map((one) => `- ${text(otherText(one, plan))}`),
    `- traffic: ${text(simulation.traffic.text)}, ${peakText(simulation)}`,
    `- engine: ${text(simulation.engine.text)}`,
  ]
  return `## Tried on a simulated day\n\n${lines.join('\n')}`
}

/** The page of its own: every case hour by hour. Ends with a line break. */
export function renderSimulationPage(document: PlanDocument, simulation: PlanSimulation): string {
  const { traffic, engine, router, seed, busiest, not_judged: unjudged } = simulation
  const what = [
    `- demand: ${document.demand.peak_per_s} req/s at the peak of the plan; here ${text(traffic.text)}, ${peakText(simulation)}, ${formatSpan(traffic.duration_s * 1000)} long`,
    `- requests: ${text(traffic.lengths)}`,
    `- engine: ${text(engine.text)}; one carries ${formatRate(engine.capacity_per_s)} of these by the mean field`,
    ...(document.limits === null
      ? []
      : [
          `- limits of one: ${document.limits.max_running} in the batch${document.limits.max_queued === null ? '' : `, ${document.limits.max_queued} waiting, then 429`}`,
        ]),
    `- router: ${router}; seed ${text(seed)}`,
    `- losses: from ${formatSpan(busiest.from_s * 1000)} to ${formatSpan(busiest.until_s * 1000)}; what they held is lost`,
    ...unjudged.map((limit) => `- not judged: ${text(limit)}`),
  ]
  const sections = [
    `# ${simulation.survives ? 'The plan survives its simulated day' : 'The plan FAILS its simulated day'}`,
    what.join('\n'),
    ...simulation.cases.map((one) => caseSection(one)),
  ]
  return `${sections.join('\n\n')}\n`
}

const titles: Readonly<Record<PlanCase['kind'], string>> = {
  plan: 'The plan',
  one_fewer: 'One replica fewer',
  slowest_engine: 'The plan on the slowest engine that the fit does not rule out',
}

function caseSection(one: PlanCase): string {
  const hours = one.hours.map(
    ({ start_s, arrived, good, ready_replicas: ready, most_waiting: waiting }) =>
      `| ${formatSpan(start_s * 1000)} | ${formatCount(arrived)} | ${arrived === 0 ? '–' : formatPercent(good / arrived)} | ${Number(ready.toFixed(2))} | ${formatCount(waiting)} |`,
  )
  return [
    `## ${titles[one.kind]}: ${one.replicas} ${noun(one.replicas, 'replica')}, ${one.killed} lost: ${one.survives ? 'survives' : 'fails'}`,
    [
      ...one.objectives.map((share) => `- ${text(shareText(share, one))}`),
      `- ${comfortText(one)}, ${formatRate(one.goodput_per_s)} of good answers`,
      ...(Object.keys(one.hurt).length === 0 ? [] : [`- hurt: ${hurtText(one)}`]),
    ].join('\n'),
    ...(hours.length === 0
      ? []
      : [
          `| from | requests | good | replicas ready | waiting, most |\n| --- | --- | --- | --- | --- |\n${hours.join('\n')}`,
        ]),
  ].join('\n\n')
}

function text(value: string): string {
  return printable(value).replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
