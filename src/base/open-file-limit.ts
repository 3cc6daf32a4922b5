/** Files that a process may have open, from its `/proc/self/limits`; null where that does not tell, or there is no limit. */
export function openFileLimit(limits: string): number | null {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1]
  return soft === undefined ? null : Number(soft)
}
