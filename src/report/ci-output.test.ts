import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { cliRun } from '../../test/fixtures/cli.ts'
import { clientBound, noCapacity, sixPerSecond, threeWalls } from '../../test/fixtures/documents.ts'
import { githubAnnotations } from './annotations-github.ts'
import { junitXml } from './junit-xml.ts'

const goldens = fileURLToPath(new URL('../../test/goldens/report/', import.meta.url))

function golden(name: string, text: string): string {
  if (process.env['PLIMSOLL_GOLDENS'] === 'write') {
    mkdirSync(goldens, { recursive: true })
    writeFileSync(goldens + name, text)
  }
  return readFileSync(goldens + name, 'utf8')
}

describe('for a pipeline', () => {
  test.each([
    ['junit-run.xml', sixPerSecond],
    ['junit-run-invalid.xml', clientBound],
    ['junit-sweep.xml', threeWalls],
    ['junit-sweep-no-capacity.xml', noCapacity],
  ])('%s', (name, document) => {
    const text = junitXml(document)
    expect(text).toBe(golden(name, text))
  })

  test.each([
    ['github-run.txt', sixPerSecond],
    ['github-run-invalid.txt', clientBound],
    ['github-sweep.txt', threeWalls],
  ])('%s', (name, document) => {
    const text = `${githubAnnotations(document).join('\n')}\n`
    expect(text).toBe(golden(name, text))
  })

  test('a name cannot end its line or its property', () => {
    const [first = ''] = githubAnnotations({ ...clientBound, name: 'a:b,c\n::stop-commands::x' })
    expect(first).toMatch(/^::error title=plimsoll a%3Ab%2Cc%0A%3A%3Astop-commands%3A%3Ax::/)
    expect(junitXml({ ...clientBound, name: '"><evil/>' })).not.toContain('<evil')
  })

  test('run --junit writes the file, --ci github speaks on stderr, and stdout is the report as ever', async () => {
    const plain = await cliRun(['run'])
    const { written, stderr, stdout, exitCode } = await cliRun([
      'run',
      '--junit',
      'out.xml',
      '--ci',
      'github',
    ])
    expect(written.get('out.xml')).toBe(junitXml(sixPerSecond))
    expect(stderr).toContain('::error title=plimsoll run::')
    expect({ stdout, exitCode }).toEqual({ stdout: plain.stdout, exitCode: plain.exitCode })
  })

  test('--ci of another house is refused before anything is sent', async () => {
    const { exitCode, stderr, run } = await cliRun(['run', '--ci', 'githab'])
    expect({ exitCode, run }).toEqual({ exitCode: 2, run: null })
    expect(stderr).toContain('did you mean github?')
  })
})
