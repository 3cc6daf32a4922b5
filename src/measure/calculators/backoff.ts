import { noun } from '../../base/noun.ts'
import { calculator, type Calculator } from '../../stats/calculators/calculator.ts'
import { countFigure, plain, timeText, wordFigure, type Figure } from '../../stats/calculators/figures.ts'
import { assumed, needed, optional, type Reading } from '../../stats/calculators/inputs.ts'
import { count, word } from '../../stats/calculators/quantities.ts'
import { openaiMaxRetries, openaiRetries, openaiWait, type OpenaiWait } from '../wire/openai-retry.ts'

const header: Reading<string> = { placeholder: 'TEXT', read: (text) => text.trim() }

function waitText({ fromMs, toMs }: OpenaiWait): string {
  return fromMs === toMs ? timeText(toMs) : `${timeText(fromMs)} to ${timeText(toMs)}`
}

export const backoffCalculator: Calculator = calculator({
  name: 'backoff',
  group: 'Admission',
  brief: "When does a refused client of OpenAI's library come back?",
  formula:
    'retry-after-ms, else retry-after, where it lies within 0 and 60 s; else min(0.5 s × 2ⁿ, 8 s) × (0.75 to 1)',
  inputs: {
    status: needed(count(100), 'of the answer: 429, 503', { bare: true, also: ['code'] }),
    'retry-after': optional(header, 'the header: seconds or an HTTP date'),
    'retry-after-ms': optional(header, 'the header: milliseconds'),
    'should-retry': optional(word('true', 'false'), 'the header x-should-retry'),
    retries: assumed(count(0), String(openaiMaxRetries), 'how often the client tries again', {
      also: ['max-retries'],
    }),
  },
  examples: [
    ['429', 'without a header'],
    ['429 --retry-after 60', 'as long as it is believed'],
    ['429 --retry-after 120', 'too long: it comes back at once'],
    ['503 --should-retry false', 'told to stay away'],
  ],
  work({ status, retries, ...given }) {
    const values: Readonly<Record<string, string | null>> = {
      'retry-after': given['retry-after'],
      'retry-after-ms': given['retry-after-ms'],
      'x-should-retry': given['should-retry'],
    }
    const lookup = (name: string): string | undefined => values[name] ?? undefined
    const comesBack = openaiRetries(status, lookup) && retries > 0
    // A date is read as one would read it now: there is no now in a formula.
    const waits = comesBack
      ? Array.from({ length: Math.min(retries, 10) }, (_, retry) => openaiWait(lookup, retry, Number.NaN))
      : []
    const [first] = waits
    const ignoredMs = first?.ignoredMs ?? null
    const total = waits.reduce((sum, { toMs }) => sum + toMs, 0)
    const results: Record<string, Figure> = {
      comes_back: wordFigure(comesBack),
      tries: countFigure(comesBack ? retries + 1 : 1, 'requests for one'),
      first_wait: wordFigure(
        first === undefined ? null : waitText(first),
        first === undefined ? 'none: it gives up' : waitText(first),
      ),
      decided_by: wordFigure(first === undefined ? null : (first.asked ?? 'the client')),
    }
    return {
      answer:
        first === undefined
          ? 'it gives up'
          : `it comes back after ${waitText(first)}${first.asked === null ? '' : `, as ${first.asked} asks`}`,
      results,
      working: [
        lookup('x-should-retry') === undefined
          ? `${status}: ${comesBack ? 'tried again' : 'not tried again'} (408, 409, 429 and from 500 on are)`
          : `x-should-retry: ${lookup('x-should-retry')} decides, whatever the status`,
        ...waits.map((wait, retry) => `retry ${retry + 1}: ${waitText(wait)}`),
        ...(ignoredMs === null ? [] : [`${timeText(ignoredMs)} lies outside 0 to 60 s and is ignored`]),
        ...(waits.length > 0 ? [`all of it over after ${timeText(total)} at most`] : []),
      ],
      assumptions: [
        'the library as it is set up unless told otherwise; a gateway between may try again too',
        'a date is read against the clock of the client, which is not here: give seconds',
      ],
      mistake: `a Retry-After over 60 s: it is not believed, and the client is back in half a second; and ${plain(retries)} ${noun(retries, 'retry turns', 'retries turn')} an overload into ${plain(retries + 1)} times the load`,
      next: ['plimsoll calc retry-after'],
    }
  },
})
