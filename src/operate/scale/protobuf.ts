/*
 * The few parts of protobuf's wire format that the external scaler's messages use: varints, doubles, strings, nested messages. Unknown
 * fields are skipped, as the format asks.
 */

export interface Field {
  readonly number: number
  readonly value: bigint | number | Buffer
}

const varint = 0
const eightBytes = 1
const lengthDelimited = 2
const fourBytes = 5

/** The fields of a message in their order. Throws RangeError for a message that is cut or malformed. */
export function readFields(message: Buffer): readonly Field[] {
  const fields: Field[] = []
  let at = 0
  const readVarint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) throw new RangeError('the message is cut inside a number')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new RangeError('a number has more than ten bytes')
  }
  const take = (length: number): Buffer => {
    if (length > message.length - at) throw new RangeError('the message is cut inside a field')
    const part = message.subarray(at, at + length)
    at += length
    return part
  }
  while (at < message.length) {
    const tag = readVarint()
    const number = Number(tag >> 3n)
    const type = Number(tag & 7n)
    if (number === 0) throw new RangeError('a field has the number 0')
    if (type === varint) fields.push({ number, value: readVarint() })
    else if (type === eightBytes) fields.push({ number, value: take(8).readDoubleLE(0) })
    else if (type === fourBytes) fields.push({ number, value: take(4).readFloatLE(0) })
    else if (type === lengthDelimited) fields.push({ number, value: take(Number(readVarint())) })
    else throw new RangeError(`a field has the wire type ${type}`)
  }
  return fields
}

/** The last string of that number, as the format has it; '' where there is none. */
export function stringField(fields: readonly Field[], number: number): string {
  const found = fields.findLast((field) => field.number === number && Buffer.isBuffer(field.value))
  return Buffer.isBuffer(found?.value) ? found.value.toString('utf8') : ''
}

/** All nested messages of that number. */
export function messageFields(fields: readonly Field[], number: number): readonly Buffer[] {
  return fields.flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  )
}

export function writeVarint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (;;) {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    if (rest === 0n) {
      bytes.push(low)
      return Buffer.from(bytes)
    }
    bytes.push(low | 0x80)
  }
}

function tag(number: number, type: number): Buffer {
  return writeVarint(BigInt((number << 3) | type))
}

export function writeBytes(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
  return Buffer.concat([tag(number, lengthDelimited), writeVarint(BigInt(bytes.length)), bytes])
}

/** Zero is the default and is left out. */
export function writeInteger(number: number, value: bigint): Buffer {
  return value === 0n ? Buffer.alloc(0) : Buffer.concat([tag(number, varint), writeVarint(value)])
}

export function writeDouble(number: number, value: number): Buffer {
  if (value === 0) return Buffer.alloc(0)
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return Buffer.concat([tag(number, eightBytes), bytes])
}
