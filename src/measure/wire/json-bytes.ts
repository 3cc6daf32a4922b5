/**
 * Steps over JSON (RFC 8259) in UTF-8 bytes without building anything. Every function takes where a token begins and gives where
 * it ends, or -1 when it is not JSON or is cut off.
 */

const quote = 0x22
const backslash = 0x5c
/** Nesting beyond this is left to JSON.parse. */
const maxDepth = 64

export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end) {
    const byte = bytes[i]!
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break
    i++
  }
  return i
}

/**
 * From after the opening quote to after the closing one. `-1 - position` (below -1) when the string holds escapes, so that the
 * caller knows without another look; -1 alone is an error.
 */
export function skipString(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end) {
    const byte = bytes[i]!
    if (byte === quote) return i + 1
    if (byte < 0x20) return -1
    if (byte === backslash) return skipEscapedString(bytes, i, end)
    i++
  }
  return -1
}

/** The rest of a string from its first backslash on. */
function skipEscapedString(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    if (byte === quote) return -2 - i
    if (byte < 0x20) return -1
    if (byte !== backslash) continue
    if (++i >= end) return -1
    const kind = bytes[i]!
    if (kind === 0x75) {
      if (i + 4 >= end) return -1
      for (let digit = 1; digit <= 4; digit++) if (!isHex(bytes[i + digit]!)) return -1
      i += 4
    } else if (!isSimpleEscape(kind)) return -1
  }
  return -1
}

/** The position that `skipString` gave, whether or not the string held escapes. */
export function stringEnd(result: number): number {
  return result < -1 ? -1 - result : result
}

/** Over any value. */
export function skipValue(bytes: Uint8Array, start: number, end: number, depth = 0): number {
  if (start >= end) return -1
  const byte = bytes[start]!
  switch (byte) {
    case quote:
      return stringEnd(skipString(bytes, start + 1, end))
    case 0x7b:
      return skipContainer(bytes, start, end, depth, true)
    case 0x5b:
      return skipContainer(bytes, start, end, depth, false)
    case 0x74:
      return skipWord(bytes, start, end, 0x72, 0x75, 0x65)
    case 0x66:
      return start + 4 < end && bytes[start + 1] === 0x61
        ? skipWord(bytes, start + 1, end, 0x6c, 0x73, 0x65)
        : -1
    case 0x6e:
      return skipNull(bytes, start, end)
    default:
      return skipNumber(bytes, start, end)
  }
}

/** Over `null`. */
export function skipNull(bytes: Uint8Array, start: number, end: number): number {
  return bytes[start] === 0x6e ? skipWord(bytes, start, end, 0x75, 0x6c, 0x6c) : -1
}

/** A number of at most 15 digits without sign, fraction or exponent; -1 for any other value. */
export function readCount(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  let i = start
  for (; i < end; i++) {
    const digit = bytes[i]! - 0x30
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  const digits = i - start
  if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === 0x30)) return -1
  const next = i < end ? bytes[i]! : 0
  return next === 0x2e || next === 0x65 || next === 0x45 ? -1 : value
}

function skipContainer(
  bytes: Uint8Array,
  start: number,
  end: number,
  depth: number,
  object: boolean,
): number {
  if (depth >= maxDepth) return -1
  const close = object ? 0x7d : 0x5d
  let i = skipBlanks(bytes, start + 1, end)
  if (bytes[i] === close && i < end) return i + 1
  while (i < end) {
    if (object) {
      if (bytes[i] !== quote) return -1
      i = stringEnd(skipString(bytes, i + 1, end))
      if (i === -1) return -1
      i = skipBlanks(bytes, i, end)
      if (i >= end || bytes[i] !== 0x3a) return -1
      i = skipBlanks(bytes, i + 1, end)
    }
    i = skipValue(bytes, i, end, depth + 1)
    if (i === -1) return -1
    i = skipBlanks(bytes, i, end)
    if (i >= end) return -1
    if (bytes[i] === close) return i + 1
    if (bytes[i] !== 0x2c) return -1
    i = skipBlanks(bytes, i + 1, end)
  }
  return -1
}

function skipNumber(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  if (bytes[i] === 0x2d) i++
  const whole = i
  i = skipDigits(bytes, i, end)
  if (i === whole || (i - whole > 1 && bytes[whole] === 0x30)) return -1
  if (i < end && bytes[i] === 0x2e) {
    const fraction = i + 1
    i = skipDigits(bytes, fraction, end)
    if (i === fraction) return -1
  }
  if (i < end && (bytes[i]! | 0x20) === 0x65) {
    i++
    if (i < end && (bytes[i] === 0x2b || bytes[i] === 0x2d)) i++
    const exponent = i
    i = skipDigits(bytes, exponent, end)
    if (i === exponent) return -1
  }
  return i
}

function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && bytes[i]! >= 0x30 && bytes[i]! <= 0x39) i++
  return i
}

/** Over a word of four letters whose first is already known. */
function skipWord(bytes: Uint8Array, start: number, end: number, b: number, c: number, d: number): number {
  if (start + 3 >= end) return -1
  return bytes[start + 1] === b && bytes[start + 2] === c && bytes[start + 3] === d ? start + 4 : -1
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function isSimpleEscape(byte: number): boolean {
  switch (byte) {
    case quote:
    case backslash:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true
    default:
      return false
  }
}
