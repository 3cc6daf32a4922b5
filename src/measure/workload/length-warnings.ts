import { noun } from '../../base/noun.ts'
import type { Warning } from '../../base/warnings.ts'

/** What is to be said of prompts that are not as long as asked: too short for their salt, or cut to the model's context. */
export function lengthWarnings(
  count: number,
  shortest: number,
  maxModelLen: number | null,
  lengthsAt: (index: number) => { readonly asked: number; readonly prompt: number },
): readonly Warning[] {
  let [short, long] = [0, 0]
  for (let index = 0; index < count; index++) {
    const { asked, prompt } = lengthsAt(index)
    if (prompt > asked) short++
    if (prompt < asked) long++
  }
  const warnings: Warning[] = []
  if (short > 0) {
    warnings.push({
      kind: 'lengths_not_as_asked',
      message: `${short} of ${count} ${noun(count, 'prompt')} ${noun(short, 'was', 'were')} asked shorter than ${shortest} ${noun(shortest, 'token')} and have ${shortest}`,
      cause: 'the chat template and the salt that keeps the prefix cache cold take that many',
      next: '--warm-prefix sends no salt; --api completions no template',
      evidence: { short, of: count, shortest_tokens: shortest },
    })
  }
  if (long > 0) {
    warnings.push({
      kind: 'lengths_not_as_asked',
      message: `${long} of ${count} ${noun(count, 'prompt')} ${noun(long, 'was cut so that it and its answer fit', 'were cut so that they and their answers fit')} the model's ${maxModelLen} tokens`,
      cause: 'the lengths asked for go beyond the model’s context',
      next: 'shorter prompts or answers',
      evidence: { cut: long, of: count, max_model_len: maxModelLen },
    })
  }
  return warnings
}
