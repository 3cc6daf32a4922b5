import type { ExposedMetric } from '../../../measure/wire/prometheus-exposition.ts'

/** Cores of the machine that is told of, and the share of them that an inference server keeps busy: it waits for its GPU. */
const cores = 8
const busyShare = 0.07
/** Memory of the GPU, MiB. Engines take nine tenths of it before the first request and give none back. */
const gpuMiB = 81_920
const reservedShare = 0.9

/**
 * What node-exporter and DCGM would say of a machine under an engine: CPU low and flat, GPU memory full from the start. They say
 * nothing of the load, which is what they are here to show.
 */
export function machineStandIns(uptimeMs: number): readonly ExposedMetric[] {
  const seconds = uptimeMs / 1000
  const gauge = (name: string, help: string, value: number): ExposedMetric => ({
    kind: 'gauge',
    name,
    help,
    series: [{ labels: { gpu: '0' }, value }],
  })
  return [
    {
      kind: 'counter',
      name: 'node_cpu_seconds',
      help: 'Seconds of each core by mode (a stand-in).',
      series: Array.from({ length: cores }, (_, cpu) => [
        { labels: { cpu: String(cpu), mode: 'idle' }, value: seconds * (1 - busyShare) },
        { labels: { cpu: String(cpu), mode: 'user' }, value: seconds * busyShare },
      ]).flat(),
    },
    gauge('DCGM_FI_DEV_FB_USED', 'GPU memory in use, MiB (a stand-in).', gpuMiB * reservedShare),
    gauge('DCGM_FI_DEV_FB_FREE', 'GPU memory that is free, MiB (a stand-in).', gpuMiB * (1 - reservedShare)),
  ]
}
