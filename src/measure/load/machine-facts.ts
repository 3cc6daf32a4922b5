import type { Sample, Scrape } from '../wire/prometheus-text.ts'

/** What exporters beside an engine say of its machine; null is what no page shows. */
export interface MachineSample {
  /** Seconds of all cores since boot, and those of them that were idle (node-exporter `node_cpu_seconds_total`). */
  readonly cpuSeconds: number | null
  readonly cpuIdleSeconds: number | null
  /** Share of GPU memory in use, 0..1, over all GPUs (DCGM `DCGM_FI_DEV_FB_USED`, `_FREE`). */
  readonly gpuMemory: number | null
  /** Share of time that a kernel ran, 0..1, mean over GPUs (DCGM `DCGM_FI_DEV_GPU_UTIL`). */
  readonly gpuBusy: number | null
}

export function readMachineSample(scrape: Scrape): MachineSample {
  const cpu = samples(scrape, 'node_cpu_seconds_total')
  const idle = cpu.filter(({ labels }) => labels['mode'] === 'idle' || labels['mode'] === 'iowait')
  const used = total(samples(scrape, 'DCGM_FI_DEV_FB_USED'))
  const free = total(samples(scrape, 'DCGM_FI_DEV_FB_FREE'))
  const busy = samples(scrape, 'DCGM_FI_DEV_GPU_UTIL')
  const busyTotal = total(busy)
  return {
    cpuSeconds: total(cpu),
    cpuIdleSeconds: total(idle),
    gpuMemory: used === null || free === null || used + free <= 0 ? null : used / (used + free),
    gpuBusy: busyTotal === null ? null : busyTotal / busy.length / 100,
  }
}

/** Share of the cores that were busy between two samples; null where either does not tell or a restart lies between. */
export function cpuBusy(before: MachineSample | null, after: MachineSample | null): number | null {
  if (before === null || after === null) return null
  const { cpuSeconds: from, cpuIdleSeconds: idleFrom } = before
  const { cpuSeconds: to, cpuIdleSeconds: idleTo } = after
  if (from === null || idleFrom === null || to === null || idleTo === null || to <= from) return null
  return Math.min(1, Math.max(0, 1 - (idleTo - idleFrom) / (to - from)))
}

function samples(scrape: Scrape, name: string): readonly Sample[] {
  return scrape.families.flatMap((family) =>
    family.samples.filter((sample) => sample.name === name && Number.isFinite(sample.value)),
  )
}

function total(found: readonly Sample[]): number | null {
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0)
}
