import { exactText } from '../../base/units.ts'
import type { Pacer, Spacing } from '../../measure/load/pacer.ts'

/**
 * The load in flags that `run` takes, as they are read back; none for a trace, whose times are those of its workload. Null for recorded
 * times that no flag can say.
 */
export function pacerFlags(pacer: Pacer, workload: string): readonly string[] | null {
  switch (pacer.kind) {
    case 'poisson':
      return ['--request-rate', exactText(pacer.ratePerSecond)]
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
      return `constant ${exactText(pacer.ratePerSecond)}/s`
    case 'gamma':
      return `gamma ${exactText(pacer.ratePerSecond)}/s cv ${exactText(pacer.cv)}`
    case 'ramp':
      return `ramp ${exactText(pacer.fromPerSecond)}/s..${exactText(pacer.toPerSecond)}/s over ${exactText(pacer.durationMs)}ms${spaced(pacer.spacing)}`
    case 'steps':
      return `steps ${pacer.steps
        .map(
          ({ ratePerSecond, durationMs }) => `${exactText(ratePerSecond)}/s for ${exactText(durationMs)}ms`,
        )
        .join(', ')}${spaced(pacer.spacing)}`
    default:
      return `burst ${pacer.size}${pacer.everyMs === null ? '' : ` every ${exactText(pacer.everyMs)}ms`}`
  }
}

function usersText({
  users,
  thinkTimeMs,
  thinkTime,
  staggerMs = 0,
}: Extract<Pacer, { kind: 'concurrency' }>): string {
  const think =
    thinkTimeMs === 0
      ? ''
      : ` think ${thinkTime === 'exponential' ? 'exponential ' : ''}${exactText(thinkTimeMs)}ms`
  return `users ${users}${think}${staggerMs === 0 ? '' : ` stagger ${exactText(staggerMs)}ms`}`
}

function spaced(spacing: Spacing | undefined): string {
  return spacing === 'poisson' ? ' poisson' : ''
}
