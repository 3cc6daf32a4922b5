import { noun } from '../../base/noun.ts'
import { exitCodes, type ExitCode } from '../exit-codes.ts'
import { outputFlags } from '../flags/output-flags.ts'
import { pathsOrNewest } from '../newest-run.ts'
import { isOn, oneOf, text } from '../flags/flag-values.ts'
import type { Invocation, Verb } from '../verb.ts'

export const exportVerb: Verb = {
  brief: 'The rows of a run',
  description:
    "Writes a run's rows: jsonl has exactly the names of the row, csv the same with lists as JSON text, vllm the result file of vLLM's bench serve --save-detailed, llm-d the Benchmark Report v0.2.1 with a unit at every figure, parquet the rows as one file of their own.",
  positional: {
    placeholder: 'RUN',
    brief: 'Run folder; the newest in ./runs without it',
    minimum: 0,
    maximum: 1,
  },
  examples: [
    ['plimsoll export runs/1129-1436-run', 'JSON Lines on stdout'],
    [
      'plimsoll export runs/1129-1436-run --format vllm --out result.json',
      "for notebooks that read vLLM's file",
    ],
    ['plimsoll export --format llm-d --out report.json', "for llm-d's tools"],
    ['plimsoll export --format parquet --out requests.parquet', 'for DuckDB, pandas, Polars'],
  ],
  flags: {
    format: {
      kind: 'text',
      group: 'Output',
      brief: 'jsonl, csv, vllm, llm-d or parquet',
      placeholder: 'FORMAT',
      letter: 'f',
      default: 'jsonl',
    },
    out: {
      kind: 'text',
      group: 'Output',
      brief: 'File to write; stdout without it',
      placeholder: 'FILE',
      letter: 'o',
    },
    force: { kind: 'switch', group: 'Output', brief: 'Write over a file that is there' },
    quiet: outputFlags['quiet']!,
  },
  run: exportRows,
}

async function exportRows({ flags, args, cli }: Invocation): Promise<ExitCode> {
  const quiet = isOn(flags, 'quiet') ?? false
  const format = oneOf(text(flags, 'format') ?? 'jsonl', '--format', {
    jsonl: 'jsonl',
    csv: 'csv',
    vllm: 'vllm',
    'llm-d': 'llm-d',
    parquet: 'parquet',
  })
  const [path = ''] = await pathsOrNewest(args, cli)
  const { noticesOf } = await import('../voice.ts')
  const deps = await cli.flowDeps(noticesOf({ flags, cli }))
  const out = text(flags, 'out')
  const overwrite = out === undefined ? false : (isOn(flags, 'force') ?? false)
  const sink = out === undefined || format === 'parquet' ? null : await cli.openFile(out, { overwrite })
  const file = out === undefined ? {} : { file: out, overwrite }
  try {
    const write = sink?.write ?? ((piece: string) => cli.stdout.writeAll(piece))
    const { rows } = await cli.flows.exportFlow({ path, format, ...file }, { ...deps, write })
    const { formatCount } = await import('../../base/format.ts')
    if (out !== undefined && !quiet)
      cli.stderr.write(`wrote ${formatCount(rows)} ${noun(rows, 'row')} to ${out}\n`)
  } finally {
    await sink?.close()
  }
  return exitCodes.fine
}
