import { fileURLToPath } from 'node:url'

/**
 * The compiled file behind a thread or process entry named relative to `importMetaUrl` ("./load-thread.ts"). Threads cannot
 * run TypeScript on Node 20, so under the tests (which load `src/`) this leads to the built `dist/`.
 */
export function entryPath(relative: string, importMetaUrl: string): string {
  const path = fileURLToPath(new URL(relative, importMetaUrl))
  if (!importMetaUrl.endsWith('.ts')) return path.replace(/\.ts$/, '.js')
  return path.replace(/([/\\])src([/\\])(?!.*[/\\]src[/\\])/, '$1dist$2').replace(/\.ts$/, '.js')
}
