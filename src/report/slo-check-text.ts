import { formatPercent } from '../base/format.ts'
import { noun } from '../base/noun.ts'
import { toldBadShares, type AlertCheck } from '../operate/slo/alert-check.ts'
import type { SloRules } from '../operate/slo/rules.ts'
import { toNumber } from '../stats/rational.ts'
import { footnotes } from './footnotes.ts'
import { painter, type RenderOptions } from './paint.ts'
import { factorX, secondsText, shareText } from './slo-words.ts'
import { textTable, type Cell, type Column } from './text-table.ts'

const columns: readonly Column[] = [
  { align: 'left', gap: 2 },
  { align: 'right', gap: 2 },
  { align: 'left', gap: 1 },
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
  ...toldBadShares.map((): Column => ({ align: 'right', gap: 3 })),
  { align: 'right', gap: 3 },
  { align: 'right', gap: 3 },
]

/** What each alert can and cannot do, then what is watched and where that is less than it seems. */
export function renderChecks(all: readonly SloRules[], options: Pick<RenderOptions, 'color'>): string {
  const paint = painter(options.color)
  const notes = footnotes()
  const blocks = all.map((rules) => {
    const { spec, policy, checks, watched, joint, refitted } = rules
    const head = `${spec.service}/${spec.name}: ${spec.objectiveText.replace(/%$/, ' %')} over ${spec.period}, policy ${policy.name} (${
      policy.comparator === '>' ? 'over the factor' : 'at the factor or over'
    })`
    const header: Cell[] = [
      '',
      'burn',
      'on',
      'fires when bad',
      'needs requests',
      ...toldBadShares.map((share) => `sees ${share.replace('%', ' %')}`),
      'spent then',
      'stops after',
    ].map((text, index) => ({
      text,
      style: 'quiet' as const,
      ...(index === 4
        ? { mark: notes.mark('fewer than this in the long window, and one failure alone is over the factor') }
        : {}),
    }))
    const refits = refitted.map(
      ({ tier, from }) =>
        `  ${factorX(from)} on ${tier.long} can never fire at ${spec.objectiveText}: ${factorX(tier.factor)} was taken instead`,
    )
    const inside = checks
      .filter(({ insideBudget }) => insideBudget)
      .map(
        ({ tier }) =>
          `  ${factorX(tier.factor)} on ${tier.long} fires although at that rate the budget lasts longer than ${spec.period}`,
      )
    const guard =
      spec.minBad > 0
        ? [`  every alert also needs ${spec.minBad} bad ${noun(spec.minBad, 'request')} in its long window`]
        : []
    const shares = watched.map(({ sli }) => {
      const marks = sli.notes.map((note) => notes.mark(note)).join(' ')
      return `  watched: ${sli.what}${marks === '' ? '' : ` ${marks}`}`
    })
    const bounds =
      joint === null
        ? []
        : ['  jointly: only between bounds, from separate counters; a gateway that sees each request knows']
    return [
      paint('strong', head),
      ...textTable(columns, [header, ...checks.map((check) => row(check))], paint),
      ...refits,
      ...inside,
      ...guard,
      ...shares,
      ...bounds,
    ].join('\n')
  })
  return `${[...blocks, ...notes.lines()].join('\n')}\n`
}

function row(check: AlertCheck): readonly Cell[] {
  const { tier, threshold, minimumRequests, detectSeconds, spentAtDetection, resetSeconds, insideBudget } =
    check
  return [
    { text: tier.severity, style: tier.severity === 'page' ? 'bad' : 'doubtful' },
    { text: factorX(tier.factor), ...(insideBudget ? { style: 'doubtful' as const } : {}) },
    { text: `${tier.long} and ${tier.short}` },
    { text: shareText(threshold) },
    { text: minimumRequests === null ? '–' : minimumRequests.toString() },
    ...detectSeconds.map((seconds): Cell => ({ text: seconds === null ? 'never' : secondsText(seconds) })),
    { text: formatPercent(toNumber(spentAtDetection)) },
    { text: resetSeconds === null ? '–' : secondsText(resetSeconds) },
  ]
}
