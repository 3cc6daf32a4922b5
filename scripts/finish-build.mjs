// Marks the command as executable: git clones and tarballs run it directly.
import { chmodSync, existsSync } from 'node:fs'

const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(main)) chmodSync(main, 0o755)
