/** What the data sheet of a GPU says, for one of it. */
export interface Gpu {
  readonly name: string
  /** Peak of the memory, bytes a second. */
  readonly bandwidth: number
  /** Peak of dense BF16 (FP16 where there is none) matrix products with FP32 sums, FLOP a second. */
  readonly flops: number
  readonly memoryBytes: number
}

/** name as the driver spells it, GB/s, TFLOP/s, GiB: the makers' data sheets, without sparsity. The first match counts. */
const sheets: ReadonlyArray<readonly [RegExp, string, number, number, number]> = [
  [/b300/i, 'B300', 8000, 2250, 268],
  [/b200/i, 'B200', 8000, 2250, 180],
  [/gh200/i, 'GH200', 4000, 989.4, 95.5],
  [/h200/i, 'H200', 4800, 989.4, 139.8],
  [/h100.*nvl/i, 'H100 NVL', 3938, 835.5, 93.1],
  [/h100.*pcie/i, 'H100 PCIe', 2000, 756.5, 79.1],
  [/h[18]00/i, 'H100 SXM', 3350, 989.4, 79.1],
  [/h20\b/i, 'H20', 4000, 148, 95.6],
  [/a[18]00.*40/i, 'A100 40 GB', 1555, 311.8, 39.4],
  [/a[18]00.*pcie/i, 'A100 PCIe', 1935, 311.8, 79.2],
  [/a[18]00/i, 'A100 SXM', 2039, 311.8, 79.2],
  [/l40s/i, 'L40S', 864, 362, 44.5],
  [/l40/i, 'L40', 864, 181, 44.5],
  [/\bl4\b/i, 'L4', 300, 121, 22.2],
  [/a10g/i, 'A10G', 600, 70, 22.1],
  [/\ba10\b/i, 'A10', 600, 125, 22.1],
  [/6000.*ada|ada.*6000/i, 'RTX 6000 Ada', 960, 364.2, 47.4],
  [/pro\s*6000/i, 'RTX PRO 6000 Blackwell', 1792, 503.8, 95],
  [/a6000/i, 'RTX A6000', 768, 154.8, 47.4],
  [/5090/i, 'RTX 5090', 1792, 209.5, 31.4],
  [/4090/i, 'RTX 4090', 1008, 165.2, 23.5],
  [/3090/i, 'RTX 3090', 936, 71, 23.6],
  [/\bt4\b/i, 'T4', 320, 65, 14.6],
  [/v100/i, 'V100', 900, 125, 31.7],
  [/mi300x/i, 'MI300X', 5300, 1307, 191],
]

/** The GPU that a device name means, or null where none is known by it. */
export function gpuCalled(deviceName: string): Gpu | null {
  const found = sheets.find(([pattern]) => pattern.test(deviceName))
  if (found === undefined) return null
  const [, name, gigabytes, teraflops, gibibytes] = found
  return { name, bandwidth: gigabytes * 1e9, flops: teraflops * 1e12, memoryBytes: gibibytes * 2 ** 30 }
}
