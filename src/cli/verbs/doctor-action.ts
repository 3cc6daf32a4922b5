import { PlimsollError } from '../../base/errors.ts'
import { doctorFlow } from '../../flows/doctor.ts'
import { engineIds } from '../../operate/catalogue/engines.ts'
import type { EngineId } from '../../operate/catalogue/catalogue.ts'
import { doctorDocument, isUnchecked } from '../../report/doctor-documents.ts'
import { renderDoctor } from '../../report/doctor-text.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { oneOf, text } from '../flags/flag-values.ts'
import { printResult } from '../print-result.ts'
import type { Invocation } from '../verb.ts'

/** Checks files against the catalogue, an engine, a Prometheus server; exit 3 where something is wrong. */
export async function runDoctor({ flags, args, cli }: Invocation): Promise<ExitCode> {
  const url = text(flags, 'url') ?? null
  if (args.length === 0 && url === null) {
    throw new PlimsollError('PLIM_USAGE', 'nothing to look at', {
      expected: 'files with queries, --url ENGINE, or both',
    })
  }
  const files = await Promise.all(
    args.map(async (path) => {
      const content = await cli.readFile(path)
      if (content === null) throw new PlimsollError('PLIM_FILE', `there is no ${path}`)
      return { path, text: content }
    }),
  )
  const engine = text(flags, 'engine')
  const prometheus = text(flags, 'prometheus') ?? null
  const words = Object.fromEntries(engineIds.map((id) => [id, id])) as Record<string, EngineId>
  const deps = await cli.flowDeps({
    onProgress: () => {},
    onNotice: () => {},
    confirm: () => Promise.resolve(true),
  })
  const report = await doctorFlow(
    {
      url,
      prometheus,
      engine: engine === undefined ? null : oneOf(engine, '--engine', words),
      files,
    },
    deps,
  )
  await printResult(doctorDocument(report), { flags, cli }, () => renderDoctor(report, cli.stdout))
  const wrong = report.files.some(({ uses }) =>
    uses.some(({ findings }) => findings.some(({ severity }) => severity === 'error')),
  )
  // A check that checked nothing is not green: the wrong file, a form or metrics that are not known here.
  return wrong ? exitCodes.objectiveFailed : isUnchecked(report) ? exitCodes.usage : exitCodes.fine
}
