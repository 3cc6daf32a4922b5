import { tmpdir } from 'node:os'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { isOn, text } from '../flags/flag-values.ts'
import { folderFlags, outputFlags } from '../flags/output-flags.ts'
import { printResult } from '../print-result.ts'
import { reportOptions } from '../report-options.ts'
import type { Invocation, Verb } from '../verb.ts'

export const importVerb: Verb = {
  brief: "Other tools' results, recomputed",
  description:
    "Reads result files of vLLM, SGLang, AIPerf, GuideLLM, inference-perf, genai-bench, LLMPerf, MLCommons endpoints, k6, vegeta, oha, hey and others; which it is, is seen from the file. Every figure is computed anew from the requests in it, the tool's own figures that differ are named with the formula that makes them, and a run folder is written that every verb takes.",
  positional: {
    placeholder: 'FILE',
    brief: 'Result file (JSON, JSON Lines or CSV, also gzipped)',
    minimum: 1,
  },
  examples: [
    ['plimsoll import result.json', 'which tool wrote it is seen from the file'],
    ['plimsoll import profile_export.jsonl profile_export_aiperf.json', 'requests and summary of one test'],
    ['plimsoll import benchmarks.json --json', 'one JSON document on stdout'],
    ['plimsoll import old.jsonl --dry-run', 'only look, write nothing'],
  ],
  flags: {
    name: folderFlags['name']!,
    'runs-dir': folderFlags['runs-dir']!,
    out: folderFlags['out']!,
    'dry-run': { kind: 'switch', group: 'Output', brief: 'Write no run folder' },
    json: outputFlags['json']!,
    explain: outputFlags['explain']!,
    quiet: outputFlags['quiet']!,
  },
  run: importResults,
}

async function importResults(invocation: Invocation): Promise<ExitCode> {
  const { flags, args, cli } = invocation
  const { noticesOf } = await import('../voice.ts')
  const voice = noticesOf({ flags, cli })
  const write = isOn(flags, 'dry-run') !== true
  const kept = (flag: string): string | undefined => (write ? text(flags, flag) : undefined)
  const out = kept('out') ?? null
  const document = await cli.flows.importFlow(
    {
      files: args,
      runsDir: (out === null ? kept('runs-dir') : undefined) ?? 'runs',
      rows: { folder: tmpdir() },
      out,
      name: kept('name') ?? null,
      write,
    },
    await cli.flowDeps(voice),
  )
  await printResult(document, invocation, async () => {
    const { renderImport } = await import('../../report/render-import.ts')
    return renderImport(document, reportOptions(invocation))
  })
  // A test in which nothing succeeded measures nothing, whoever ran it.
  return document.runs.some(({ run }) => run.verdict.status === 'INVALID')
    ? exitCodes.invalid
    : exitCodes.fine
}
