// Writes docs/calc.md from the calculators. Build first.
import { writeFileSync } from 'node:fs'
const { calculateLine, calculators } = await import('../dist/flows/calculators.js')
const { calculationPage } = await import('../dist/report/calculation-page.js')

writeFileSync(new URL('../docs/calc.md', import.meta.url), calculationPage(calculators, calculateLine))
