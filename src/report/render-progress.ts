import { formatCount, formatDuration, formatPercent, formatPlain, formatSpan } from '../base/units.ts'
import type { RunProgress } from './progress.ts'

const eighths = ' ▏▎▍▌▋▊▉'

/** A bar of `width` characters, filled to an eighth of one. */
export function bar(share: number, width: number): string {
  const filled = Math.round(Math.min(Math.max(share, 0), 1) * width * 8)
  const part = eighths[filled % 8]!
  return ('█'.repeat(Math.floor(filled / 8)) + (part === ' ' ? '' : part)).padEnd(width)
}

/** The status line: never wider than the terminal, the least important parts going first. */
export function renderProgress(progress: RunProgress, columns: number): string {
  const { elapsedMs, totalMs, planned, done } = progress
  const share =
    totalMs === null ? (planned === null ? null : done / Math.max(planned, 1)) : elapsedMs / totalMs
  const elapsed = `  ${formatSpan(wholeSeconds(elapsedMs))}${totalMs === null ? '' : ` / ${formatSpan(totalMs)}`}`
  const parts = [elapsed, progress.label, ...facts(progress)]
  if (share !== null) parts.splice(1, 0, bar(share, 18))
  let line = ''
  for (const part of parts) {
    const next = line === '' ? part : `${line}   ${part}`
    if (Array.from(next).length >= columns) break
    line = next
  }
  return line
}

/** The same for logs: one plain line. */
export function renderProgressLine(progress: RunProgress): string {
  const of = progress.totalMs === null ? '' : ` of ${formatSpan(progress.totalMs)}`
  return [`${formatSpan(wholeSeconds(progress.elapsedMs))}${of}`, progress.label, ...facts(progress)].join(
    ', ',
  )
}

function facts(progress: RunProgress): string[] {
  const {
    planned,
    done,
    failed,
    shed,
    askedPerSecond,
    sentPerSecond,
    ttftP50Ms,
    tpotP50Ms,
    lagP99Ms,
    leftMs,
  } = progress
  const facts = [
    planned === null ? `${formatCount(done)} done` : `${formatCount(done)} of ${formatCount(planned)}`,
  ]
  const sent = sentPerSecond === null ? null : formatPlain(sentPerSecond)
  if (askedPerSecond !== null && sent !== null)
    facts.push(`${formatPlain(askedPerSecond)} req/s asked, ${sent} sent`)
  else if (sent !== null) facts.push(`${sent} req/s`)
  if (ttftP50Ms !== null) facts.push(`TTFT p50 ${formatDuration(ttftP50Ms)}`)
  if (tpotP50Ms !== null) facts.push(`TPOT p50 ${formatDuration(tpotP50Ms)}`)
  const ended = Math.max(done, 1)
  if (shed > 0) facts.push(`${formatPercent(shed / ended)} refused`)
  if (failed > 0) facts.push(`${formatPercent(failed / ended)} failed`)
  if (lagP99Ms !== null) facts.push(`client lag p99 ${formatDuration(lagP99Ms)}`)
  if (leftMs !== null && leftMs >= 1000) facts.push(`${formatSpan(wholeSeconds(leftMs))} left`)
  return facts
}

function wholeSeconds(ms: number): number {
  return Math.round(ms / 1000) * 1000
}
