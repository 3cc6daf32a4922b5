import type { OperatingPoint } from './documents.ts'

/** Whether the Poisson run at its rate missed an objective: the point is then none that may be used. */
export function isRefuted({ confirmation }: OperatingPoint): boolean {
  return confirmation?.objectives.some(({ met }) => met === 'no') ?? false
}
