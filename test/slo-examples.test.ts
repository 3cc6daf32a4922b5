import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { promtool } from '../src/flows/slo-promtool.ts'
import { sloFiles, sloRules } from '../src/flows/slo-rules.ts'
import { groupsOf, undefinedInGroups } from '../src/operate/slo/rules.ts'
import { isInstalled } from './fixtures/programs.ts'

const folder = fileURLToPath(new URL('../examples/slo/', import.meta.url))
const gen = `${folder}_gen/`
const sources = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
const rulesOfFile = (name: string): ReturnType<typeof sloRules> =>
  sloRules([{ path: `examples/slo/${name}`, text: readFileSync(folder + name, 'utf8') }], {})

const here = isInstalled('promtool')
const amtoolHere = isInstalled('amtool')
if (!here) console.warn('promtool is not here (apt-get install prometheus): its tests are skipped')
if (!amtoolHere)
  console.warn('amtool is not here (apt-get install prometheus-alertmanager): the routing is not tested')

describe('the generated files in examples/slo/_gen', () => {
  it.each(sources)('are what %s makes', (name) => {
    for (const file of sloFiles(rulesOfFile(name))) {
      expect([file.name, readFileSync(gen + file.name, 'utf8') === file.text]).toEqual([file.name, true])
    }
  })

  it('there are no others', () => {
    const made = new Set(sources.flatMap((name) => sloFiles(rulesOfFile(name)).map((file) => file.name)))
    expect(readdirSync(gen).filter((name) => !made.has(name))).toEqual([])
  })

  it.each(sources)('no rule of %s reads a record that no rule makes', (name) => {
    expect(undefinedInGroups(rulesOfFile(name).flatMap(groupsOf))).toEqual([])
  })

  const made = readdirSync(gen)
  it.skipIf(!here)('promtool check rules', async () => {
    const outcome = await promtool(
      ['check', 'rules', ...made.filter((name) => name.endsWith('.rules.yaml'))],
      gen,
    )
    expect([outcome.kind, outcome.kind === 'passed' ? '' : outcome.output]).toEqual(['passed', ''])
  })

  it.skipIf(!here).each(made.filter((name) => name.endsWith('.test.yaml')))(
    'promtool test rules %s',
    async (name) => {
      const outcome = await promtool(['test', 'rules', name], gen)
      expect([outcome.kind, outcome.kind === 'passed' ? '' : outcome.output.slice(0, 2000)]).toEqual([
        'passed',
        '',
      ])
    },
    300_000,
  )

  it.skipIf(!amtoolHere)('Alertmanager takes the routing, and a page goes to the pager', () => {
    const amtool = (...args: string[]): string => execFileSync('amtool', args, { cwd: gen, encoding: 'utf8' })
    expect(amtool('check-config', 'alertmanager.yaml')).toContain('SUCCESS')
    const route = (...labels: string[]): string =>
      amtool('config', 'routes', 'test', '--config.file=alertmanager.yaml', ...labels).trim()
    expect(route('alertname=SloBurnPage', 'severity=page')).toBe('pager')
    expect(route('alertname=SloBurnTicket', 'severity=ticket')).toBe('tickets')
    expect(route('alertname=SloDataMissing', 'severity=ticket')).toBe('tickets')
    expect(route('alertname=Other', 'severity=page')).toBe('nobody')
  })

  it('every scenario has something to fail on: each test looks at an alert or a series', () => {
    for (const name of made.filter((one) => one.endsWith('.test.yaml'))) {
      const text = readFileSync(gen + name, 'utf8')
      expect([name, text.includes('exp_alerts:\n'), text.includes('alertname: SloBurnPage')]).toEqual([
        name,
        true,
        true,
      ])
    }
  })
})
