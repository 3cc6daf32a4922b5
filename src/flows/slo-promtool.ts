import { execFile } from 'node:child_process'

export interface PromtoolOutcome {
  /** `absent`: there is no promtool here. */
  readonly kind: 'passed' | 'failed' | 'absent'
  readonly output: string
}

/** Runs `promtool` on files of a folder. */
export function promtool(args: readonly string[], folder: string): Promise<PromtoolOutcome> {
  return new Promise((resolve) => {
    execFile(
      'promtool',
      args,
      { cwd: folder, timeout: 600_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`
        if (error === null) resolve({ kind: 'passed', output })
        else resolve({ kind: error.code === 'ENOENT' ? 'absent' : 'failed', output })
      },
    )
  })
}
