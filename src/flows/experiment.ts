import { join } from 'node:path'
import { PlimsollError } from '../base/errors.ts'
import { makeFreshFolder, takenNotice } from '../measure/record/fresh-folder.ts'
import { runFolderName } from '../measure/record/run-folder.ts'
import type { RunDocument } from '../report/documents.ts'
import type {
  ExperimentCell,
  ExperimentDocument,
  ExperimentFigure,
  ExperimentRun,
  FigureOverRuns,
} from '../report/experiment-document.ts'
import { mean, standardDeviation } from '../stats/describe.ts'
import { tQuantile } from '../stats/student-t.ts'
import { noun } from '../base/noun.ts'
import { goneAfter } from './answered-before.ts'
import type { FlowDeps, RunOutcome } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'
import { stored } from './stored.ts'
import { experimentFile, writeDocument } from './sweep-folder.ts'

/** One combination of settings, complete and checked. */
export interface CellConfig {
  readonly settings: Readonly<Record<string, string>>
  readonly config: RunConfig
}

export interface ExperimentConfig {
  readonly cells: readonly CellConfig[]
  /** Runs of each cell. */
  readonly repeat: number
}

export interface ExperimentOutcome {
  readonly document: ExperimentDocument
  readonly interrupted: boolean
}

/**
 * Runs every cell `repeat` times, round by round so that a drift of the machine falls on all cells alike, and sums each headline
 * figure up over the runs. Round 1 has the seed of the config, round k its own (`1.2`, `1.3`, …), the same in every cell: cells
 * meet the same arrivals, rounds meet others. `experiment.json` is written after each run.
 */
export async function experimentFlow(
  { cells, repeat }: ExperimentConfig,
  deps: FlowDeps,
  runOnce: (config: RunConfig, deps: FlowDeps) => Promise<RunOutcome>,
): Promise<ExperimentOutcome> {
  const [first] = cells
  if (first === undefined) throw new PlimsollError('PLIM_USAGE', 'the matrix has no combination to run')
  const name = first.config.name ?? 'experiment'
  const { out, runsDir } = first.config
  const wanted = out ?? join(runsDir, runFolderName(new Date(deps.wallClock()), name))
  const folder = await makeFreshFolder(wanted, 'the folder of the experiment')
  const taken = takenNotice(out, folder)
  if (taken !== null) deps.onNotice(taken, 'not-as-asked')
  const done: ExperimentRun[][] = cells.map(() => [])
  const document = (complete: boolean): ExperimentDocument => ({
    schema: 'plimsoll.experiment/1',
    plimsoll: deps.version,
    experiment: folder,
    name,
    complete,
    repeat,
    cells: cells.map(({ settings }, at) => summarizeCell(settings, done[at] ?? [])),
  })
  let interrupted = false
  // A further run could not be written.
  let isFull = false
  for (let round = 1; round <= repeat && !interrupted && !isFull; round++) {
    for (const [at, cell] of cells.entries()) {
      const run = cellRunName(at, cells.length, round)
      const said = Object.entries(cell.settings).map(([flag, value]) => `${flag} ${value}`)
      deps.onNotice(
        `run ${(round - 1) * cells.length + at + 1} of ${repeat * cells.length}${said.length > 0 ? `: ${said.join(', ')}` : ''}`,
      )
      const seed = round === 1 ? cell.config.seed : `${cell.config.seed}.${round}`
      const measure = (): Promise<RunOutcome> =>
        runOnce({ ...cell.config, seed, out: join(folder, run) }, deps)
      const before = done.flat().length
      const outcome =
        before === 0
          ? await measure()
          : await stored(deps, measure, null).catch((error: unknown) => {
              const runs = `${before} of ${repeat * cells.length} ${noun(repeat * cells.length, 'run')}`
              throw goneAfter(error, { done: runs, folder, shown: folder, goOn: null })
            })
      isFull = outcome === null
      if (outcome === null) break
      done[at]?.push(experimentRun(run, seed, outcome.document))
      interrupted = outcome.interrupted || deps.signal.aborted
      await stored(deps, () => writeDocument(folder, experimentFile, document(false)), undefined)
      deps.onFolder(folder)
      if (interrupted) break
    }
  }
  const finished = document(!interrupted && !isFull)
  await stored(deps, () => writeDocument(folder, experimentFile, finished), undefined)
  return { document: finished, interrupted }
}

/** `run-2`, or `cell-3-run-2` with a matrix. */
function cellRunName(cell: number, cells: number, round: number): string {
  return cells === 1 ? `run-${round}` : `cell-${cell + 1}-run-${round}`
}

function experimentRun(run: string, seed: string, document: RunDocument): ExperimentRun {
  const { metrics, throughput, goodput, verdict, objectives } = document
  return {
    run,
    seed,
    verdict,
    objectives,
    figures: {
      ttft_ms_p50: metrics.ttft_ms?.p50 ?? null,
      ttft_ms_p99: metrics.ttft_ms?.p99 ?? null,
      tpot_ms_p50: metrics.tpot_ms?.p50 ?? null,
      tpot_ms_p99: metrics.tpot_ms?.p99 ?? null,
      e2e_ms_p50: metrics.e2e_ms?.p50 ?? null,
      requests_per_s: throughput.requests_per_s,
      output_tokens_per_s: throughput.output_tokens_per_s,
      goodput_share: goodput?.share ?? null,
    },
  }
}

export function summarizeCell(
  settings: ExperimentCell['settings'],
  runs: readonly ExperimentRun[],
): ExperimentCell {
  const usable = runs.filter(({ verdict }) => verdict.status !== 'INVALID')
  const over = (figure: ExperimentFigure): FigureOverRuns =>
    overRuns(usable.flatMap(({ figures }) => figures[figure] ?? []))
  return {
    settings,
    runs,
    figures: {
      ttft_ms_p50: over('ttft_ms_p50'),
      ttft_ms_p99: over('ttft_ms_p99'),
      tpot_ms_p50: over('tpot_ms_p50'),
      tpot_ms_p99: over('tpot_ms_p99'),
      e2e_ms_p50: over('e2e_ms_p50'),
      requests_per_s: over('requests_per_s'),
      output_tokens_per_s: over('output_tokens_per_s'),
      goodput_share: over('goodput_share'),
    },
  }
}

/** Student's two-sided 95 % interval of the mean of runs. */
export function overRuns(values: readonly number[]): FigureOverRuns {
  const n = values.length
  const centre = mean(values)
  if (centre === null || n < 2) {
    const why = n === 0 ? 'no run tells it' : 'one run has no spread between runs'
    return { n, mean: centre, sd: null, low: null, high: null, why }
  }
  const sd = standardDeviation(values) ?? 0
  const half = (tQuantile(0.975, n - 1) * sd) / Math.sqrt(n)
  return { n, mean: centre, sd, low: centre - half, high: centre + half, why: null }
}
