import type { RunDocument, SweepDocument } from './documents.ts'
import { checksOf } from './junit-xml.ts'
import { runHeadline } from './render-run.ts'
import { sweepHeadline } from './render-sweep.ts'
import { warningLine } from './warning-text.ts'

/**
 * Workflow commands of GitHub Actions, a line each: what failed as an error, what cannot be told and the warnings as warnings, the
 * answer as a notice. The runner shows at most ten of each kind a step, so the checks come first.
 */
export function githubAnnotations(document: RunDocument | SweepDocument): readonly string[] {
  const isRun = document.schema === 'plimsoll.run/1'
  const title = `plimsoll ${document.name}`
  const lines = checksOf(document).flatMap(({ name, outcome, reason }) => {
    if (outcome === 'passed') return []
    return [command(outcome === 'failed' ? 'error' : 'warning', title, `${name}: ${reason}`)]
  })
  const degraded = isRun && document.verdict.status === 'DEGRADED' ? document.verdict.reasons : []
  for (const { status, message } of degraded) lines.push(command('warning', title, `${status}: ${message}`))
  for (const warning of document.warnings) lines.push(command('warning', title, warningLine(warning)))
  const answer = isRun ? `${document.verdict.status} · ${runHeadline(document)}` : sweepHeadline(document)
  return [...lines, command('notice', title, answer)]
}

/** `::error title=…::…`; line ends, and in properties colons and commas, as the runner unescapes them. */
function command(kind: 'error' | 'warning' | 'notice', title: string, message: string): string {
  const data = (text: string): string =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = data(title).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${kind} title=${property}::${data(message)}`
}
