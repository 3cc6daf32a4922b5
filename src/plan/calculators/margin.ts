import { PlimsollError } from '../../base/errors.ts'
import type { Reading } from '../../stats/calculators/inputs.ts'
import { ratio, type Quantity } from '../../stats/calculators/quantities.ts'

/** A margin as said: `derate:20%`, `uplift:20%`, or `20%` alone, which may be either. */
export interface Margin {
  readonly kind: 'derate' | 'uplift' | null
  readonly share: Quantity
}

export const margin: Reading<Margin> = {
  placeholder: '[derate:|uplift:]SHARE',
  read(text, what) {
    const match = /^\s*(?:(derate|uplift)\s*:)?\s*(.*)$/i.exec(text)
    const kind = match?.[1]?.toLowerCase()
    if (/^[a-z]+\s*:/i.test(text.trim()) && kind === undefined) {
      throw new PlimsollError('PLIM_USAGE', `${what} cannot be ${JSON.stringify(text)}`, {
        expected: 'derate:20% (each is run at 80 %), uplift:20% (the peak is 20 % higher), or 20%',
      })
    }
    return {
      kind: kind === 'derate' || kind === 'uplift' ? kind : null,
      share: ratio.read(match?.[2] ?? text, what),
    }
  },
}
