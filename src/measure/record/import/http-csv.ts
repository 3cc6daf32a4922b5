import type { FormatName } from './imported-run.ts'
import { gatherHits } from './http-tools.ts'
import type { Importer } from './importer.ts'

const hey = 'response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset'

function isHey(header: string | null): boolean {
  return header !== null && /^response-time,.*status-code,offset$/i.test(header)
}

function isOha(header: string | null): boolean {
  return header !== null && /^request-start,.*request-duration,.*status/i.test(header)
}

/** hey's `-o csv`, in seconds. */
export const heyCsv: Importer = csvImporter('hey-csv', 'hey', isHey, {
  start: 'offset',
  duration: 'response-time',
  delay: 'Response-delay',
  status: 'status-code',
})

/** oha's `--output-format csv`, in seconds. */
export const ohaCsv: Importer = csvImporter('oha-csv', 'oha', isOha, {
  start: 'request-start',
  duration: 'request-duration',
  delay: 'Response-delay',
  status: 'status',
})

interface Columns {
  readonly start: string
  readonly duration: string
  readonly delay: string
  readonly status: string
}

function csvImporter(
  format: FormatName,
  tool: string,
  detects: (header: string | null) => boolean,
  columns: Columns,
): Importer {
  return {
    format,
    tool,
    detects: ({ header }) => detects(header),
    begin(file, options) {
      const hits = gatherHits({ format, tool, file }, options)
      let names: readonly string[] = hey.split(',')
      return {
        plan: null,
        line(text, number) {
          const fields = text.split(',')
          if (number === 1) {
            names = fields
            return null
          }
          if (text.trim() === '') return null
          if (fields.length < names.length) return `${names.length} fields`
          const field = (name: string): number | null => {
            const value = Number(fields[names.indexOf(name)] ?? Number.NaN)
            return Number.isFinite(value) ? value : null
          }
          const startS = field(columns.start)
          const durationS = field(columns.duration)
          const delayS = field(columns.delay)
          if (durationS === null) return `a number of seconds as ${columns.duration}`
          hits.push({
            sentAtMs: startS === null ? null : startS * 1000,
            latencyMs: durationS * 1000,
            firstByteMs: delayS === null || format === 'oha-csv' ? null : delayS * 1000,
            status: fields[names.indexOf(columns.status)]?.trim() ?? null,
            error: null,
          })
          return null
        },
        end: () => [hits.run()],
      }
    },
  }
}
