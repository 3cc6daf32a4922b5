import { PlimsollError } from '../../base/errors.ts'
import { randomStream } from '../../base/random.ts'

/** A model, or an adapter that a server has under a name of its own, and how often it is asked. */
export interface WeightedModel {
  readonly name: string
  readonly weight: number
}

/**
 * The model of request `index`, drawn by weight from the seed; null where the run has only one. Where a request has no segment of
 * its own, the model is its segment.
 * @throws PlimsollError PLIM_USAGE for weights that cannot be drawn.
 */
export function modelChooser(input: {
  readonly models?: readonly WeightedModel[]
  readonly seed: number | string
}): (index: number) => string | null {
  const { models = [], seed } = input
  if (models.length === 0) return () => null
  const total = models.reduce((sum, { weight }) => sum + weight, 0)
  if (!models.every(({ weight }) => Number.isFinite(weight) && weight >= 0) || !(total > 0)) {
    throw new PlimsollError('PLIM_USAGE', 'the models cannot be drawn', {
      expected: 'weights of 0 or more, one of them above 0',
      received: models.map(({ name, weight }) => `${name}:${weight}`).join(', '),
    })
  }
  return (index) => {
    let left = randomStream(seed, 'model', index).next() * total
    return (models.find(({ weight }) => (left -= weight) < 0) ?? models[0])?.name ?? null
  }
}
