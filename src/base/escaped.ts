/**
 * Text of a file or a server as it may stand in an error: one line of at most `longest` characters, in which what a terminal would obey
 * or hide (control characters, line breaks, marks of direction and of no width) is written out: `\x1b`, `\u202e`.
 */
export function escaped(text: string, longest = 80): string {
  const characters = Array.from(text.slice(0, 2 * longest)).slice(0, longest)
  const hidden = /[\p{Cc}\p{Cs}\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/u
  const shown = characters.map((one) => (hidden.test(one) ? written(one.codePointAt(0) ?? 0) : one)).join('')
  return characters.join('').length < text.length ? `${shown}…` : shown
}

function written(code: number): string {
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/** Whether bytes are no text: a zero, or another control character that no text file has. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b))
}

/** The first bytes in hexadecimal: `7f 45 4c 46 …`. */
export function hexadecimal(bytes: Uint8Array, longest = 16): string {
  const shown = Array.from(bytes.subarray(0, longest), (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  return bytes.length > longest ? `${shown} …` : shown
}
