import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as v from 'valibot'
import { PlimsollError } from '../base/errors.ts'
import { checkedDocument } from '../measure/record/checked-document.ts'
import { readRun } from '../measure/record/read-run.ts'
import type { RequestRow } from '../measure/record/request-row.ts'
import type { Rows } from '../measure/record/rows.ts'
import type { SweepDocument, SweepPoint } from '../report/documents.ts'
import { writingInto } from '../measure/record/writing-into.ts'
import { sweepSchema } from './options/document-schemas.ts'
import { isCut } from './cut-point.ts'

/** What earlier documents of the same forms lack. */
const cameLater: ReadonlySet<string> = new Set(['tags', 'ci_coverage', 'upper'])

/** The files that make a folder of runs a sweep, a search for a rate, an experiment. */
export const sweepFile = 'sweep.json'
export const findFile = 'find.json'
export const experimentFile = 'experiment.json'

export async function isSweepFolder(path: string): Promise<boolean> {
  return stat(fileOf(path, sweepFile)).then(
    (found) => found.isFile(),
    () => false,
  )
}

/** @throws PlimsollError PLIM_RUN_FOLDER for a sweep.json that is none, or of another version. */
export async function readSweep(path: string): Promise<SweepDocument> {
  const document = await readDocument<SweepDocument>(
    path,
    sweepFile,
    'plimsoll.sweep/1',
    'sweep',
    sweepSchema,
  )
  if (document !== null) return document
  throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no sweep here', {
    expected: `a folder with ${sweepFile}`,
    where: { file: path },
  })
}

function fileOf(path: string, name: string): string {
  return path.endsWith(name) ? path : join(path, name)
}

/**
 * The document of several runs, from its file or the folder that holds it; null where there is none.
 * @param form Its schema in full.
 * @throws PlimsollError PLIM_RUN_FOLDER for one of another kind or version, or with a field that is missing or of another kind.
 */
export async function readDocument<T extends { readonly schema: string }>(
  path: string,
  name: string,
  schema: T['schema'],
  what: string,
  form: v.GenericSchema<unknown, T>,
): Promise<T | null> {
  const file = fileOf(path, name)
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const value = parsed(text)
  const received = (value as { schema?: unknown } | null)?.schema
  if (received === schema) return checkedDocument(form, value, { file, what: name, cameLater })
  throw new PlimsollError('PLIM_RUN_FOLDER', `this is not a ${what} that this version can read`, {
    expected: `schema ${schema}`,
    received:
      value === undefined
        ? `no whole JSON: ${text.slice(0, 60)}`
        : received === undefined
          ? 'JSON without a schema'
          : JSON.stringify(received),
    where: { file },
    hint: 'the runs in its folder can be read one by one: plimsoll show RUN',
  })
}

/** Undefined for what is no JSON, as a file that was cut. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Writes it beside its place and renames: whoever reads meanwhile sees the old one or the new one.
 * @throws PlimsollError PLIM_RUN_FOLDER for a disk that is full or may not be written.
 */
export async function writeDocument(folder: string, name: string, document: object): Promise<void> {
  const file = join(folder, name)
  await writingInto(folder, [`${file}.tmp`], async () => {
    await writeFile(`${file}.tmp`, `${JSON.stringify(document, null, 2)}\n`)
    await rename(`${file}.tmp`, file)
  })
}

/** What a sweep that was ended left to go on with. */
export interface ResumedSweep {
  readonly folder: string
  readonly document: SweepDocument
  readonly points: readonly SweepPoint[]
  /** Rows of the measurement windows of its points. */
  readonly rows: Rows
}

/** @throws PlimsollError PLIM_RUN_FOLDER when there is no sweep, or one of its points cannot be read. */
export async function resumedSweep(path: string): Promise<ResumedSweep> {
  const folder = path.endsWith(sweepFile) ? dirname(path) : path
  if (!(await isSweepFolder(folder))) {
    throw new PlimsollError('PLIM_RUN_FOLDER', 'there is no sweep to go on with', {
      expected: `a folder with ${sweepFile}`,
      where: { file: folder },
    })
  }
  // A point that was cut short is measured anew; its folder stays.
  const document = await readSweep(folder)
  const points = document.points.filter((point) => !isCut(point))
  const rows: RequestRow[] = []
  for (const { run } of points) {
    if (run === null) continue
    const record = await readRun(join(folder, run))
    for (const row of record.rows) if (row.phase === 'measure') rows.push(row)
  }
  return { folder, document, points, rows }
}
