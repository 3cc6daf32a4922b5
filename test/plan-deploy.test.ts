import { mkdtempSync, readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments, type Document } from 'yaml'
import { promtool } from '../src/flows/slo-promtool.ts'
import type { PlanDocument } from '../src/report/plan-document.ts'
import { start } from './fixtures/product.ts'
import { isInstalled } from './fixtures/programs.ts'

it('goes from a sweep of the embedded engine to a folder to deploy, in two commands', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'plimsoll-deploy-'))
  // An objective that every load keeps, whatever else the machine does.
  const sweep = [
    'sweep',
    '--concurrency',
    '1,4',
    '--no-confirm',
    '--duration-per-point',
    '2s',
    '--out',
    'swept',
  ]
  const swept = await start(
    [...sweep, '--slo', 'ttft < 10s and tpot < 500ms, good 50%', '--quiet', '--json'],
    { cwd },
  ).ended
  expect(swept.stderr).toBe('')
  const flags = [
    '--peak',
    '40/s',
    '--margin',
    'derate:20%',
    '--survive',
    '1',
    '--price',
    '2.50',
    '--ramp',
    '0.1/s/s',
  ]
  const planned = await start(
    ['plan', 'swept', ...flags, '--weights', '16GB', '--bandwidth', '2GB/s', '--out', 'deploy', '--json'],
    { cwd },
  ).ended
  expect([planned.code, planned.stderr]).toEqual([0, ''])
  const document = JSON.parse(planned.stdout) as PlanDocument
  expect(document.candidates[0]?.basis).toMatchObject({ kind: 'indicative', at_least: true })
  expect(document.limits?.max_running).toBe(4)
  for (const file of [
    'capacity.md',
    'engine-flags.txt',
    'gateway.yaml',
    'scaler/hpa.yaml',
    'scaler/keda.yaml',
    'slo/llm-ttft-tpot.rules.yaml',
    'slo/llm-ttft-tpot.test.yaml',
  ]) {
    expect(document.files).toContain(file)
    expect(readFileSync(join(cwd, 'deploy', file), 'utf8').length).toBeGreaterThan(40)
  }
  expect(readFileSync(join(cwd, 'deploy/capacity.md'), 'utf8')).toContain('the embedded engine was loaded')
  const tried = await start(
    [
      'plan',
      'swept',
      ...flags,
      '--simulate',
      '--traffic',
      'daily 4/s..40/s over 10m',
      '--out',
      'tried',
      '--json',
    ],
    { cwd },
  ).ended
  expect([tried.code, tried.stderr]).toEqual([0, ''])
  const day = JSON.parse(tried.stdout) as PlanDocument
  // The engine that was loaded, with the lengths of the requests that loaded it.
  expect(day.simulation).toMatchObject({ survives: true, engine: { source: 'sweep' } })
  expect(day.simulation?.traffic.lengths).toMatch(/^those of \d+ requests of the sweep$/)
  expect(day.files).toContain('simulation.md')
  const slo = join(cwd, 'deploy/slo')
  for (const args of [
    ['check', 'rules', 'llm-ttft-tpot.rules.yaml'],
    ['test', 'rules', 'llm-ttft-tpot.test.yaml'],
  ]) {
    const { kind, output } = await promtool(args, slo)
    expect([kind === 'failed', kind === 'failed' ? output : '']).toEqual([false, ''])
  }
  // Everything is what its name says.
  for (const file of document.files) {
    const content = readFileSync(join(cwd, 'deploy', file), 'utf8')
    if (file.endsWith('.json')) JSON.parse(content)
    if (!file.endsWith('.yaml')) continue
    for (const part of parseAllDocuments(content) as readonly Document[]) {
      expect([file, part.errors, part.warnings]).toEqual([file, [], []])
      const object = part.toJS() as Record<string, unknown>
      if (file.startsWith('scaler/'))
        expect([file, typeof object['apiVersion'], typeof object['kind']]).toEqual([file, 'string', 'string'])
    }
  }
  expect(readFileSync(join(cwd, 'deploy/engine-flags.txt'), 'utf8')).toMatch(/^vllm\n {2}--max-num-seqs 4\n/)
  const gateway = parse(readFileSync(join(cwd, 'deploy/gateway.yaml'), 'utf8')) as {
    limits: { beyond: { status: number; retry_after: { from: string; to: string } } }
  }
  expect(gateway.limits.beyond.status).toBe(429)
  expect(gateway.limits.beyond.retry_after.to).toMatch(/^\d+s$/)
  if (isInstalled('amtool')) {
    const amtool = (...args: string[]): string => execFileSync('amtool', args, { cwd: slo, encoding: 'utf8' })
    expect(amtool('check-config', 'alertmanager.yaml')).toContain('SUCCESS')
    const route = amtool(
      'config',
      'routes',
      'test',
      '--config.file=alertmanager.yaml',
      'alertname=SloBurnPage',
      'severity=page',
    )
    expect(route.trim()).toBe('pager')
  } else
    console.warn('amtool is not here (apt-get install prometheus-alertmanager): the routing is not tested')
}, 240_000)
