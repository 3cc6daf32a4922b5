import { PlimsollError } from '../base/errors.ts'
import { parseCount, parseDurationMs } from '../base/units.ts'
import type { PrefillSample } from './prefill-fit.ts'

/** "256:23ms 8000:280ms", as typed on the command line. */
export function readTypedPoints(texts: readonly string[]): readonly PrefillSample[] {
  return texts
    .flatMap((text) => text.split(/[\s,]+(?=\S+:)/))
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [tokens = '', time = ''] = text.trim().split(':')
      return sample(parseCount(tokens, 'the prompt length', 1), parseDurationMs(time, 'the TTFT'))
    })
}

/**
 * A file of points: two numbers a line, prompt tokens and TTFT, apart by a comma, a semicolon or white space. TTFT is in ms, unless
 * its unit stands behind it. A first line of words is a head; lines beginning with # are not read. Repeats of a length are repeats.
 * @throws PlimsollError PLIM_FILE with the line.
 */
export function readPointsFile(text: string, file: string): readonly PrefillSample[] {
  const samples: PrefillSample[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (const [index, line] of lines.entries()) {
    const content = line.trim()
    if (content === '' || content.startsWith('#')) continue
    const [tokens = '', time = '', ...more] = content.split(/[\s,;]+/)
    if (samples.length === 0 && !/^[\d.]/.test(tokens)) continue
    const point = more.length > 0 ? null : readPoint(tokens, time)
    if (point === null) {
      throw new PlimsollError('PLIM_FILE', 'this line is not a point', {
        expected: 'prompt tokens and TTFT: 256 23, or 256,23ms',
        received: content.slice(0, 60),
        where: { file, line: index + 1 },
      })
    }
    samples.push(point)
  }
  if (samples.length > 0) return samples
  throw new PlimsollError('PLIM_FILE', 'there are no points', {
    expected: 'prompt tokens and TTFT on each line',
    where: { file },
  })
}

function readPoint(tokens: string, time: string): PrefillSample | null {
  const promptTokens = Number(tokens)
  const ttftMs = /^[\d.]+(e-?\d+)?$/i.test(time) ? Number(time) : durationOrNull(time)
  if (!Number.isInteger(promptTokens) || promptTokens < 1) return null
  return ttftMs === null || !Number.isFinite(ttftMs) || ttftMs < 0 ? null : sample(promptTokens, ttftMs)
}

function durationOrNull(text: string): number | null {
  try {
    return parseDurationMs(text)
  } catch {
    return null
  }
}

function sample(promptTokens: number, ttftMs: number): PrefillSample {
  return { promptTokens, ttftMs, ttfbMs: null, lagMs: null, cachedTokens: null }
}
