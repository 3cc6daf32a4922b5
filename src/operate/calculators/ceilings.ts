import { noun } from '../../base/noun.ts'
import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import { numberFigure, plain, shareFigure, shareText, type Figure } from '../../stats/calculators/figures.ts'
import { needed } from '../../stats/calculators/inputs.ts'
import { count, share } from '../../stats/calculators/quantities.ts'
import { softCeilings } from '../admission/soft-ceilings.ts'

export const ceilingsCalculator: Calculator = calculator({
  name: 'ceilings',
  group: 'Admission',
  brief: 'How full may the pool be for each priority, by soft reflective ceilings?',
  formula: 'band b of N: 1 − saturation × b ÷ (N − 1); probed every round(s ÷ (1 − s)) windows',
  inputs: {
    bands: needed(count(1), 'priority bands', { bare: true, also: ['n', 'priorities'] }),
    saturation: needed(share, 'of the pool', { bare: true, also: ['s'] }),
  },
  examples: [
    ['3 60%', 'three bands'],
    ['2 90%', 'nearly full'],
  ],
  work({ bands, saturation }) {
    const shown = Math.min(bands, 100)
    const { ceilings, period } = softCeilings(shown, saturation.value)
    const results: Record<string, Figure> = {
      lowest: shareFigure(ceilings.at(-1) ?? null),
      period: numberFigure(period, 'none: the lowest band is not let in'),
    }
    ceilings.slice(0, 10).forEach((ceiling, band) => {
      results[`band_${band + 1}`] = shareFigure(ceiling)
    })
    return {
      answer: ceilings.slice(0, 10).map(shareText).join(', '),
      results,
      working: [
        ...ceilings
          .slice(0, 10)
          .map(
            (ceiling, band) =>
              `band ${band + 1}: 1 − ${shareText(saturation.value)} × ${band} ÷ ${Math.max(1, shown - 1)} = ${shareText(ceiling)}`,
          ),
        period === null
          ? 's ÷ (1 − s) has no end at 100 %'
          : `probed every round(${shareText(saturation.value)} ÷ ${shareText(1 - saturation.value)}) = ${plain(period)} ${noun(period, 'window')}`,
      ],
      assumptions: [
        'the first band is the highest priority',
        ...(bands > shown ? [`${shown} bands are shown as all`] : []),
      ],
      mistake: null,
      next: ['plimsoll calc gate'],
    }
  },
})
