import type { RunDocument, SweepDocument } from '../report/documents.ts'
import { oneOf, text } from './flags/flag-values.ts'
import type { CliContext, FlagValues } from './verb.ts'

/** Refuses what `--ci` does not know and a `--junit` that cannot be written, before anything is sent. */
export async function checkCiFlags(flags: FlagValues, cli: CliContext): Promise<void> {
  const ci = text(flags, 'ci')
  if (ci !== undefined) oneOf(ci, '--ci', { github: 'github' })
  const junit = text(flags, 'junit')
  if (junit !== undefined) await cli.checkWritable(junit)
}

/** The file of `--junit` and the lines of `--ci`: stdout stays the report's. */
export async function writeCi(
  document: RunDocument | SweepDocument,
  flags: FlagValues,
  cli: CliContext,
): Promise<void> {
  const path = text(flags, 'junit')
  if (path !== undefined) {
    const { junitXml } = await import('../report/junit-xml.ts')
    const sink = await cli.openFile(path, { overwrite: true })
    try {
      await sink.write(junitXml(document))
    } finally {
      await sink.close()
    }
  }
  if (text(flags, 'ci') === 'github') {
    const { githubAnnotations } = await import('../report/annotations-github.ts')
    for (const line of githubAnnotations(document)) cli.stderr.write(`${line}\n`)
  }
}
