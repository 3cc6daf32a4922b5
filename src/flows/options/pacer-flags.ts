import type { Pacer, Spacing } from '../../measure/load/pacer.ts'

/**
 * The load in flags that `run` takes, as they are read back; none for a trace, whose times are those of its workload. Null for recorded
 * times that no flag can say.
 */
export function pacerFlags(pacer: Pacer, workload: string): readonly string[] | null {
  switch (pacer.kind) {
    case 'poisson':
      return ['--request-rate', String(pacer.ratePerSecond)]
    case 'concurrency':
      return pacer.thinkTimeMs === 0 && (pacer.staggerMs ?? 0) === 0
        ? ['--concurrency', String(pacer.users)]
        : ['--pacer', usersText(pacer)]
    case 'schedule':
      return workload === 'trace' ? [] : null
    default:
      return ['--pacer', pacerText(pacer)]
  }
}

/** As `parsePacer` reads it. */
function pacerText(pacer: Exclude<Pacer, { kind: 'poisson' | 'concurrency' | 'schedule' }>): string {
  switch (pacer.kind) {
    case 'constant':
      return `constant ${pacer.ratePerSecond}/s`
    case 'gamma':
      return `gamma ${pacer.ratePerSecond}/s cv ${pacer.cv}`
    case 'ramp':
      return `ramp ${pacer.fromPerSecond}/s..${pacer.toPerSecond}/s over ${pacer.durationMs}ms${spaced(pacer.spacing)}`
    case 'steps':
      return `steps ${pacer.steps
        .map(({ ratePerSecond, durationMs }) => `${ratePerSecond}/s for ${durationMs}ms`)
        .join(', ')}${spaced(pacer.spacing)}`
    default:
      return `burst ${pacer.size}${pacer.everyMs === null ? '' : ` every ${pacer.everyMs}ms`}`
  }
}

function usersText({
  users,
  thinkTimeMs,
  thinkTime,
  staggerMs = 0,
}: Extract<Pacer, { kind: 'concurrency' }>): string {
  const think =
    thinkTimeMs === 0 ? '' : ` think ${thinkTime === 'exponential' ? 'exponential ' : ''}${thinkTimeMs}ms`
  return `users ${users}${think}${staggerMs === 0 ? '' : ` stagger ${staggerMs}ms`}`
}

function spaced(spacing: Spacing | undefined): string {
  return spacing === 'poisson' ? ' poisson' : ''
}
