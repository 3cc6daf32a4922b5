import { messageFields, readFields, stringField, writeBytes, writeDouble, writeInteger } from './protobuf.ts'

/*
 * KEDA's external scaler contract: package `externalscaler`, service `ExternalScaler` (kedacore/keda
 * `pkg/scalers/externalscaler/externalscaler.proto`). Numbers go out twice, as the old integer and as a double: KEDA reads the double
 * only where it is above 0.
 */

export const scalerService = '/externalscaler.ExternalScaler/'

export interface ScaledObjectRef {
  readonly name: string
  readonly namespace: string
  /** The trigger's metadata. */
  readonly metadata: Readonly<Record<string, string>>
}

export function readScaledObjectRef(message: Buffer): ScaledObjectRef {
  const fields = readFields(message)
  const entries = messageFields(fields, 3).map((entry) => {
    const pair = readFields(entry)
    return [stringField(pair, 1), stringField(pair, 2)] as const
  })
  return {
    name: stringField(fields, 1),
    namespace: stringField(fields, 2),
    metadata: Object.fromEntries(entries),
  }
}

export function readGetMetricsRequest(message: Buffer): {
  readonly ref: ScaledObjectRef
  readonly metricName: string
} {
  const fields = readFields(message)
  const ref = messageFields(fields, 1).at(-1) ?? Buffer.alloc(0)
  return { ref: readScaledObjectRef(ref), metricName: stringField(fields, 2) }
}

export function writeIsActive(active: boolean): Buffer {
  return writeInteger(1, active ? 1n : 0n)
}

export function writeMetricSpec(metricName: string, target: number): Buffer {
  return writeBytes(1, named(metricName, target))
}

export function writeMetricValue(metricName: string, value: number): Buffer {
  return writeBytes(1, named(metricName, value))
}

/** MetricSpec and MetricValue have one shape: the name, the deprecated integer, the double. Never negative, never NaN. */
function named(metricName: string, value: number): Buffer {
  const safe = Number.isFinite(value) ? Math.max(0, value) : 0
  return Buffer.concat([
    writeBytes(1, metricName),
    writeInteger(2, BigInt(Math.ceil(safe))),
    writeDouble(3, safe),
  ])
}
