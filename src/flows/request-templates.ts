import { estimateTokens } from '../measure/tokens/estimate-tokens.ts'
import { parseBodyTemplate } from '../measure/workload/body-template.ts'
import { type HeaderTemplate, parseHeader, withEnvironment } from '../measure/workload/header-template.ts'
import {
  checkTemplates,
  type RequestTemplates,
  rowUse,
  sampleFacts,
  secretsOfRows,
} from '../measure/workload/template-check.ts'
import type { RequestFacts } from '../measure/workload/placeholder.ts'
import { type LoadedWorkload, loadWorkload } from '../measure/workload/workload.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { RunConfig } from './options/run-config.ts'

/** What is asked: the workload with its file read, and the templates that its requests are made with. */
export interface Asked {
  readonly workload: LoadedWorkload
  readonly templates: RequestTemplates
  /** Headers of every request, as given. */
  readonly headers: Readonly<Record<string, string>>
  /** Stand for the run's requests in the questions before it. */
  readonly sample: Omit<RequestFacts, 'model' | 'outputTokens'>
  /** Texts that must never be stored or printed. */
  readonly secrets: readonly string[]
}

/**
 * Reads the workload and the templates, and holds one against the other.
 * @throws PlimsollError PLIM_WORKLOAD, PLIM_USAGE, PLIM_FILE for what cannot be read or filled.
 */
export async function readAsked(config: RunConfig, deps: FlowDeps): Promise<Asked> {
  const { bodyTemplatePath: path, api } = config
  const body = path === null ? null : parseBodyTemplate(await deps.files.readText(path), path)
  const fixed: Record<string, string> = {}
  const headers: HeaderTemplate[] = []
  const secrets: string[] = []
  for (const [name, value] of Object.entries(config.headers)) {
    const parsed = parseHeader(name, value)
    if (parsed === null) {
      fixed[name] = value
      secrets.push(value)
      continue
    }
    const { template, secrets: ofEnvironment } = withEnvironment(parsed, deps.env)
    headers.push(template)
    secrets.push(...ofEnvironment, ...template.pieces.filter((piece) => typeof piece === 'string'))
  }
  const templates = { body, headers }
  const workload = await loadWorkload(config.workload, deps.files.readText, estimateTokens, rowUse(templates))
  checkTemplates(templates, workload, { api, path: path ?? '' })
  secrets.push(...secretsOfRows(headers, workload))
  return { workload, templates, headers: fixed, sample: sampleFacts(workload), secrets }
}
