export { gammaCdf, gammaTail, logGamma } from './gamma.ts'
export { normalCdf, normalDensity, normalQuantile, normalTail } from './normal.ts'
export { betaCdf, betaQuantile, betaTail } from './beta.ts'
export { noncentralTCdf, tCdf, tQuantile, tTail, tTwoSided } from './student-t.ts'
export {
  binomialCdf,
  binomialMass,
  binomialQuantile,
  binomialTail,
  clopperPearson,
  clopperPearsonLower,
  clopperPearsonUpper,
  wilson,
  type ShareInterval,
} from './binomial.ts'
export { poissonCdf, poissonQuantile } from './poisson.ts'
