import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cliRun, type CliResult } from '../../../test/fixtures/cli.ts'
import {
  doctorSchema,
  sloBudgetSchema,
  sloPageSchema,
  sloRulesSchema,
  sloTestSchema,
} from '../../flows/options/slo-document-schemas.ts'
import { promtool } from '../../flows/slo-promtool.ts'
import { runDoctor } from './doctor-action.ts'
import { runSlo } from './slo-actions.ts'

const goldens = fileURLToPath(new URL('../../../test/goldens/report/', import.meta.url))
const example = (name: string): string =>
  readFileSync(new URL(`../../../examples/slo/${name}`, import.meta.url), 'utf8')

/** The golden of that name; with PLIMSOLL_GOLDENS=write it is written first. */
function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

const promtoolHere = (await promtool(['--version'], tmpdir())).kind === 'passed'

function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
}

const files = {
  'vllm.yaml': example('vllm.yaml'),
  'trtllm.yaml': example('trtllm.yaml'),
  'dynamo.yaml': example('dynamo.yaml'),
  'gateway.yaml': example('gateway.yaml'),
  'weeks.yaml': 'objectives: { chat: { good: 99%, over: 28d } }\nslo: { engine: plimsoll }\n',
  'shed.yaml': 'objectives: { chat: { good: 99.5%, shed: ignore } }\nslo: { engine: sglang }\n',
  'percentile.yaml': 'objectives: { chat: { each: p99 ttft < 500ms } }\n',
  'typo.yaml': 'objectives: { chat: { each: ttft < 500ms } }\nslo: { min_bed: 3 }\n',
  'all.yaml': 'objectives: { chat: { each: ttft < 500ms, good: 100% } }\n',
  'scaler.yaml': `kind: ScaledObject
spec:
  triggers:
    - type: prometheus
      metadata:
        serverAddress: http://prometheus:9090
        query: vllm:num_requests_waiting{model="llama"}
        threshold: '5'
`,
  'rules.yaml': `groups:
  - name: kv
    rules:
      - { alert: CacheFull, expr: 'vllm:gpu_cache_usage_perc > 0.9' }
      - { record: 'hits:ratio5m', expr: 'rate(vllm:prefix_cache_hits[5m]) / rate(vllm:prefix_cache_queries[5m])' }
`,
  'empty.yaml': '',
  'comments.promql': '# nothing\n',
  'nothing.yaml': 'a: 1\n',
  'broken.promql': 'sum(rate(foo_bar[5m])',
  'strange.promql': 'sum(rate(foo_bar[5m]))',
  'page.html': '<html><body>hi</body></html>',
  'clean.promql': 'sum(rate(vllm:generation_tokens_total[5m]))',
}

const run = (line: string, settings: { readonly terminal?: boolean } = {}): Promise<CliResult> =>
  cliRun(words(line), { files, flows: { slo: runSlo, doctor: runDoctor }, ...settings })

describe('what slo and doctor print', () => {
  it.each([
    ['slo-page.txt', 'slo page --objective 99.5% --window 30d --long 3% --short 4.1%', 3],
    [
      'slo-page-sre.txt',
      'slo page --objective 99.5% --requests 2M --long 3% --short 4.1% --policy sre-workbook',
      0,
    ],
    ['slo-page-few.txt', 'slo page --objective 99.5% --at 1h=1/10 --at 5m=1/3', 0],
    ['slo-page-untold.txt', 'slo page --objective 99.5% --at 1h=5%', 5],
    ['slo-page-idle.txt', 'slo page --objective 99.5% --at 1h=0/0 --at 5m=0/0', 0],
    ['slo-budget.txt', 'slo budget --objective 99.9% --requests 1M --bad 250', 0],
    ['slo-budget-hour.txt', 'slo budget --objective 99.5% --bad-share 3% --elapsed 1h', 0],
    ['slo-budget-few.txt', 'slo budget --objective 99.5% --requests 2M --bad 1 --seen 100 --elapsed 1h', 0],
    ['slo-budget-gone.txt', 'slo budget --objective 99% --requests 1000 --bad 12', 3],
    ['slo.txt', 'slo', 0],
    ['doctor-no-query.txt', 'doctor nothing.yaml page.html', 2],
    ['doctor-broken.txt', 'doctor broken.promql clean.promql', 3],
    ['doctor-unknown.txt', 'doctor strange.promql clean.promql', 0],
    ['doctor-all-unknown.txt', 'doctor strange.promql', 2],
    ['doctor.txt', 'doctor scaler.yaml rules.yaml clean.promql', 3],
    ['doctor-clean.txt', 'doctor clean.promql', 0],
  ])('%s: %s', async (name, line, exitCode) => {
    const result = await run(line)
    expect(result.stderr).toBe('')
    expect(result.stdout).toBe(golden(name, result.stdout))
    expect(result.exitCode).toBe(exitCode)
  })

  it.each([
    ['slo-rules-stderr.txt', 'slo rules vllm.yaml', 0],
    ['slo-rules-inside.txt', 'slo rules weeks.yaml', 0],
    ['slo-rules-refit.txt', 'slo rules trtllm.yaml', 0],
    ['slo-rules-unreachable.txt', 'slo rules trtllm.yaml --unreachable refuse', 2],
    ['slo-rules-between.txt', 'slo rules dynamo.yaml --edges refuse', 2],
    ['slo-rules-no-metric.txt', 'slo rules vllm.yaml --engine tgi', 2],
    ['slo-rules-no-shed.txt', 'slo rules shed.yaml', 2],
    ['slo-rules-clash.txt', 'slo rules vllm.yaml vllm.yaml', 2],
    ['slo-rules-percentile.txt', 'slo rules percentile.yaml', 2],
    ['slo-rules-typo.txt', 'slo rules typo.yaml', 2],
    ['slo-rules-all-good.txt', 'slo rules all.yaml', 2],
    ['slo-no-file.txt', 'slo rules nowhere.yaml', 2],
    ['slo-no-such.txt', 'slo pge', 2],
    ['slo-nothing-told.txt', 'slo page --objective 99.5%', 2],
    ['slo-bad-period.txt', 'slo budget --objective 99.5% --window 30min', 2],
    ['doctor-nothing.txt', 'doctor', 2],
    ['doctor-empty.txt', 'doctor empty.yaml', 2],
    ['doctor-comments.txt', 'doctor comments.promql clean.promql', 2],
  ])('on stderr, %s: %s', async (name, line, exitCode) => {
    const result = await run(line)
    expect(result.stderr).toBe(golden(name, result.stderr))
    expect(result.exitCode).toBe(exitCode)
    expect(result.stdout === '').toBe(exitCode === 2)
  })

  it('rules go to stdout alone, checks to stderr', async () => {
    const { stdout } = await run('slo rules vllm.yaml')
    const made = readFileSync(
      new URL('../../../examples/slo/_gen/chat-vllm-chat.rules.yaml', import.meta.url),
      'utf8',
    )
    expect(stdout).toBe(made.replace('examples/slo/vllm.yaml', 'vllm.yaml'))
    expect((await run('slo rules vllm.yaml --quiet')).stderr).toBe('')
    expect((await run('slo rules vllm.yaml --format crd')).stdout).toContain('kind: PrometheusRule')
    expect(JSON.parse((await run('slo rules vllm.yaml --format dashboard')).stdout)).toMatchObject({
      title: 'SLO chat-vllm/chat',
    })
  })

  it.skipIf(!promtoolHere)(
    'slo test makes the tests and runs them',
    async () => {
      const { stdout, exitCode } = await run('slo test gateway.yaml')
      expect([exitCode, stdout]).toEqual([0, golden('slo-test.txt', stdout)])
      const json: unknown = JSON.parse((await run('slo test gateway.yaml --json')).stdout)
      expect(v.is(sloTestSchema, json)).toBe(true)
    },
    120_000,
  )

  it('--out writes every file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-rules-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { stdout, exitCode } = await run(`slo rules gateway.yaml --out ${folder}`)
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`plimsoll slo test gateway.yaml --out ${folder}`)
    expect(readdirSync(folder).sort()).toEqual([
      'alertmanager.yaml',
      ...['batch', 'chat'].flatMap((name) =>
        ['dashboard.json', 'openslo.yaml', 'prometheusrule.yaml', 'rules.yaml', 'test.yaml'].map(
          (ending) => `gateway-${name}.${ending}`,
        ),
      ),
    ])
  })

  it.each([
    ['slo page --objective 99.5% --long 3% --short 4.1% --json', sloPageSchema],
    ['slo page --objective 100% --at 1h=1/100 --json', sloPageSchema],
    ['slo budget --objective 99.5% --requests 2M --bad 250 --json', sloBudgetSchema],
    ['slo budget --objective 99.5% --json', sloBudgetSchema],
    ['slo rules vllm.yaml --json', sloRulesSchema],
    ['doctor scaler.yaml rules.yaml --json', doctorSchema],
  ])('%s is of its schema', async (line, schema) => {
    const document: unknown = JSON.parse((await run(line)).stdout)
    const result = v.safeParse(schema, document)
    expect(result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined()
  })

  it.each([
    ['slo page vllm.yaml --prometheus http://', 'this is not an address', 'http://'],
    ['slo budget vllm.yaml --prometheus prom:port', 'this is not an address', 'prom:port'],
    ['doctor --url http://a:b', 'this is not an address', 'http://a:b'],
    ['doctor --url ftp://a', 'plimsoll speaks http and https, not ftp', 'ftp://a'],
    ['doctor --url ::1:9090', 'an IPv6 address needs brackets', '::1:9090'],
  ])('what is no address is told as that, and is no fault of plimsoll: %s', async (line, what, address) => {
    const { stderr, exitCode } = await run(line)
    expect(stderr).toContain(`PLIM_URL  ${what}\n`)
    expect(stderr).toContain('expected the address of an engine or a Prometheus server')
    expect(stderr).toContain(`received ${address}\n`)
    expect(exitCode).toBe(2)
  })

  it('what the rules were made by is what they are tested by', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll rules-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { stdout } = await run(`slo rules vllm.yaml --policy lesson --format crd --out '${folder}'`)
    expect(stdout).toContain(` · plimsoll slo test vllm.yaml --policy lesson --out '${folder}'\n`)
  })

  it('a mistyped flag of a part is told with the nearest of that part', async () => {
    const { stderr, exitCode } = await run('slo page --objectiv 99.5%')
    expect(stderr).toContain('unknown flag --objectiv; did you mean --objective?')
    expect(exitCode).toBe(2)
  })
})
