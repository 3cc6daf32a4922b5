import { describe, expect, it } from 'vitest'
import { defaultRules } from '../judge/compare-metric.ts'
import { compareCsv, type CsvSettings } from './compare-csv.ts'

const settings: CsvSettings = { ...defaultRules, columns: null, better: 'higher', scale: 'difference' }
const compare = (text: string, over: Partial<CsvSettings> = {}) =>
  compareCsv(text, 'scores.csv', { ...settings, ...over }, '0.1.0')

describe('compare --csv', () => {
  const paired =
    'question,old,new\n' +
    Array.from({ length: 30 }, (_, i) => `q${i},${60 + (i % 7)},${62 + (i % 7) + (i % 3) / 10}`).join('\n')

  it('compares the two columns of numbers, pair by pair', () => {
    const document = compare(paired)
    expect(document).toMatchObject({
      kind: 'csv',
      arms: { a: { name: 'old' }, b: { name: 'new' } },
      design: { paired_by: 'row' },
    })
    expect(document.metrics[0]).toMatchObject({ verdict: 'better', a: { n: 30 } })
    expect(compare(paired, { better: 'lower' })).toMatchObject({ regression: true })
  })

  it('reads quotes, Windows lines and a byte-order mark', () => {
    const text = '\uFEFF"q, ""id""",a,b\r\n"x\ny",1,2\r\n,3,5\r\n'
    expect(compare(text).metrics[0]?.b.values).toEqual([2, 5])
  })

  it('a numbered first column is no measurement', () => {
    expect(compare('id,a,b\n1,5,6\n2,5,7\n').arms.a.name).toBe('a')
  })

  it('a missing value is counted, not guessed', () => {
    const { warnings, metrics } = compare('a,b\n1,2\n,3\n2,NaN\n4,5\n')
    expect(metrics[0]?.a.n).toBe(2)
    expect(warnings[0]?.message).toContain('2 of 4 rows')
  })

  const refused: [sentence: string, text: string, over: Partial<CsvSettings>, message: string][] = [
    ['an empty file', '', {}, 'no rows'],
    ['names only', 'a,b\n', {}, 'no rows'],
    ['one column', 'a\n1\n', {}, 'which two columns'],
    ['four columns', 'a,b,c,d\n1,2,3,4\n', {}, 'which two columns'],
    ['a column that is not there', 'a,b\n1,2\n', { columns: ['a', 'c'] }, 'no column c'],
    ['a word where a number should be', 'a,b\n1,2\n3,x\n', { columns: ['a', 'b'] }, 'not hold a number'],
    [
      'a column beside itself',
      'old,new\n1,2\n',
      { columns: ['old', 'old'] },
      'old would be compared with itself',
    ],
    ['two columns of one name', 'old,old\n1,2\n', {}, 'two columns are named old'],
    ['two of one name, one of them asked for', 'a,b,b\n1,2,3\n', { columns: ['a', 'b'] }, 'are named b'],
    ['more values than columns', 'a,b\n1,2\n3,4,5\n', {}, 'a row of 3 values stands under 2 columns'],
    ['semicolons', 'old;new\n1,5;2\n', {}, 'apart by semicolons'],
    ['semicolons, and columns that were asked for', 'a;b\n1;2\n', { columns: ['a', 'b'] }, 'by semicolons'],
    ['tabs', 'old\tnew\n1\t2\n', {}, 'apart by tabs'],
    ['a ratio of 0', 'a,b\n1,0\n2,3\n', { scale: 'log' }, 'above 0'],
  ]
  it.each(refused)('%s is refused', (_, text, over, message) => {
    expect(() => compare(text, over)).toThrow(message)
  })

  it('an empty cell at the end of a row is no further value', () => {
    expect(compare('a,b\n1,2,\n3,5,\n').metrics[0]?.a.n).toBe(2)
  })

  it('an error says the line and the column', () => {
    expect(() => compare('a,b\n1,2\n33,x\n', { columns: ['a', 'b'] })).toThrow(
      expect.objectContaining({ where: { file: 'scores.csv', line: 3, column: 4 } }),
    )
  })

  it('the infinite is no number', () => {
    expect(() => compare('a,b\n1,1e999\n2,3\n', { columns: ['a', 'b'] })).toThrow('not hold a number')
  })
})
