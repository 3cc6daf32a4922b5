/** A smallest value that was found, and how. */
export interface Minimum {
  readonly at: readonly number[]
  readonly value: number
  readonly evaluations: number
}

/**
 * Nelder and Mead's simplex (Computer Journal 7, 1965) with their coefficients 1, 2, ½, ½: no derivative, so it goes over
 * the small jumps of a simulated schedule. Starts from `start` and `start` + `size` along each axis; ends after
 * `evaluations`, or when the simplex's values agree to within `tolerance`.
 */
export function minimizeBySimplex(
  value: (at: readonly number[]) => number,
  start: readonly number[],
  size: number,
  evaluations: number,
  tolerance = 1e-9,
): Minimum {
  let used = 0
  function corner(at: readonly number[]): Corner {
    used += 1
    return { at, value: value(at) }
  }
  const axes = start.length
  const corners = [corner(start)]
  for (let axis = 0; axis < axes; axis++)
    corners.push(corner(start.map((x, i) => x + (i === axis ? size : 0))))
  const sort = (): unknown => corners.sort((a, b) => a.value - b.value)
  sort()
  while (used < evaluations) {
    const best = corners[0] as Corner
    const worst = corners[axes] as Corner
    if (worst.value - best.value <= tolerance * (Math.abs(best.value) + tolerance)) break
    const centre = start.map((_, i) => {
      let sum = 0
      for (let k = 0; k < axes; k++) sum += (corners[k] as Corner).at[i] as number
      return sum / axes
    })
    const along = (t: number): Corner => corner(centre.map((x, i) => x + t * ((worst.at[i] as number) - x)))
    const mirrored = along(-1)
    if (mirrored.value < best.value) {
      const further = along(-2)
      corners[axes] = further.value < mirrored.value ? further : mirrored
    } else if (mirrored.value < (corners[axes - 1] as Corner).value) corners[axes] = mirrored
    else {
      const nearer = mirrored.value < worst.value ? along(-0.5) : along(0.5)
      if (nearer.value < Math.min(mirrored.value, worst.value)) corners[axes] = nearer
      else {
        for (let k = 1; k <= axes; k++) {
          const { at } = corners[k] as Corner
          corners[k] = corner(at.map((x, i) => ((best.at[i] as number) + x) / 2))
        }
      }
    }
    sort()
  }
  const best = corners[0] as Corner
  return { at: best.at, value: best.value, evaluations: used }
}

interface Corner {
  readonly at: readonly number[]
  readonly value: number
}
