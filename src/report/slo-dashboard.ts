import { multiply, toDecimalText } from '../stats/rational.ts'
import { allowedBadShare } from '../operate/slo/budget.ts'
import { factorText, promNumber, type SloRules } from '../operate/slo/rules.ts'
import { sloId } from '../operate/slo/slo-spec.ts'

interface Panel {
  readonly title: string
  readonly kind: 'timeseries' | 'stat'
  readonly unit: string
  readonly targets: readonly { readonly expr: string; readonly legend: string }[]
  readonly thresholds?: readonly (readonly [value: number, color: string])[]
}

/** A Grafana dashboard of an objective: budget left, burn in each window against its factor, requests and bad ones. */
export function grafanaDashboard(rules: SloRules): string {
  const { spec, policy, watched, joint } = rules
  const allowed = allowedBadShare(spec.objective)
  const windows = [...new Set(policy.tiers.flatMap(({ long, short }) => [long, short]))]
  const panels: Panel[] = [
    {
      title: `Budget left of ${spec.objectiveText} over ${spec.period}`,
      kind: 'stat',
      unit: 'percentunit',
      targets: watched.map(({ sli }) => ({
        expr: `slo:budget_left:ratio{slo="${sli.id}"}`,
        legend: sli.what,
      })),
      thresholds: [
        [0, 'orange'],
        [0.25, 'green'],
      ],
    },
    ...watched.map(({ sli }): Panel => ({
      title: `Burn rate: ${sli.what}`,
      kind: 'timeseries',
      unit: 'none',
      targets: windows.map((window) => ({
        expr: `slo:bad_ratio:increase${window}{slo="${sli.id}"} / ${promNumber(allowed)}`,
        legend: window,
      })),
      thresholds: policy.tiers.map(
        ({ factor, severity }) =>
          [Number(factorText(factor)), severity === 'page' ? 'red' : 'orange'] as const,
      ),
    })),
    ...watched.map(({ sli }): Panel => ({
      title: `Requests and bad ones in ${windows[1] ?? '5m'}: ${sli.what}`,
      kind: 'timeseries',
      unit: 'short',
      targets: (['requests', 'bad'] as const).map((what) => ({
        expr: `slo:${what}:increase${windows[1] ?? '5m'}{slo="${sli.id}"}`,
        legend: what,
      })),
    })),
  ]
  if (joint !== null) {
    const long = policy.tiers[0]?.long ?? '1h'
    panels.push({
      title: `Bad for any reason, ${long}: between these`,
      kind: 'timeseries',
      unit: 'percentunit',
      targets: (['low', 'high'] as const).map((side) => ({
        expr: `slo:joint_bad_ratio_${side}:increase${long}{slo="${sloId(spec)}"}`,
        legend: side === 'low' ? 'at least' : 'at most',
      })),
      thresholds: policy.tiers
        .slice(0, 1)
        .map(({ factor }) => [Number(toDecimalText(multiply(factor, allowed), 6)), 'red'] as const),
    })
  }
  return `${JSON.stringify(dashboard(rules, panels), null, 2)}\n`
}

function dashboard(rules: SloRules, panels: readonly Panel[]): object {
  const { spec } = rules
  return {
    uid: `slo-${sloId(spec)}`.slice(0, 40),
    title: `SLO ${spec.service}/${spec.name}`,
    tags: ['slo', 'plimsoll', spec.service],
    schemaVersion: 39,
    version: 1,
    time: { from: 'now-24h', to: 'now' },
    refresh: '1m',
    templating: {
      list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
    },
    panels: panels.map((panel, index) => ({
      id: index + 1,
      title: panel.title,
      type: panel.kind,
      datasource: { type: 'prometheus', uid: '${datasource}' },
      gridPos: {
        h: 8,
        w: panel.kind === 'stat' ? 24 : 12,
        x: panel.kind === 'stat' || index % 2 === 1 ? 0 : 12,
        y: Math.ceil(index / 2) * 8,
      },
      fieldConfig: {
        defaults: {
          unit: panel.unit,
          thresholds: {
            mode: 'absolute',
            steps: [
              { color: panel.kind === 'stat' ? 'red' : 'transparent', value: null },
              ...(panel.thresholds ?? [])
                .toSorted(([a], [b]) => a - b)
                .map(([value, color]) => ({ color, value })),
            ],
          },
          ...(panel.kind === 'timeseries' && panel.thresholds !== undefined
            ? { custom: { thresholdsStyle: { mode: 'line' } } }
            : {}),
        },
        overrides: [],
      },
      targets: panel.targets.map(({ expr, legend }, at) => ({
        refId: String.fromCharCode(65 + at),
        expr,
        legendFormat: legend,
      })),
    })),
  }
}
