import { PlimsollError, type ErrorCode } from './errors.ts'

/** What the operating system refuses, by its names for it (errno(3)), and what helps: none of it is a fault of plimsoll. */
const helps: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room, or give another place',
  EDQUOT: 'the quota is used up: make room, or give another place',
  EFBIG: 'files of this size are not allowed there',
  EROFS: 'the file system is read-only: give another place',
  EACCES: 'whoever runs this may not: give another place, or other rights',
  EPERM: 'whoever runs this may not: give another place, or other rights',
  EISDIR: 'a folder stands where a file is meant',
  ENOTDIR: 'a file stands where a folder is meant',
  ENAMETOOLONG: 'a shorter name',
  ELOOP: 'the links lead round in a circle',
  EMFILE: 'too many files are open: ulimit -n raises their number',
  ENFILE: 'too many files are open on this machine',
  EIO: 'the disk does not answer as it should',
  ETXTBSY: 'another process holds it',
  EBUSY: 'another process holds it',
}

/** What helps where the operating system refused; null for any other error. */
export function systemHelp(cause: unknown): string | null {
  if (!(cause instanceof Error) || !('code' in cause) || typeof cause.code !== 'string') return null
  return helps[cause.code] ?? null
}

/**
 * The error that a person can act on, where the operating system refused to read or write; null for any other error.
 * @param what "the run folder", "the output"
 */
export function systemError(
  cause: unknown,
  what: string,
  code: ErrorCode = 'PLIM_FILE',
  file?: string,
): PlimsollError | null {
  const help = systemHelp(cause)
  if (!(cause instanceof Error) || help === null) return null
  const path = file ?? ('path' in cause && typeof cause.path === 'string' ? cause.path : null)
  const isRead = 'syscall' in cause && (cause.syscall === 'read' || cause.syscall === 'scandir')
  return new PlimsollError(code, `${what} cannot be ${isRead ? 'read' : 'written'}`, {
    received: cause.message,
    ...(path === null ? {} : { where: { file: path } }),
    hint: help,
    cause,
  })
}
