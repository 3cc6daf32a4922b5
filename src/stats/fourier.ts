/**
 * Σ_t d_t·d_{t+k} for k = 0 … n − 1 of a series, through a zero-padded radix-2 Fourier transform (Cooley and Tukey 1965):
 * n log n where the direct sums are n².
 */
export function laggedProducts(values: Float64Array): Float64Array {
  const n = values.length
  let size = 1
  while (size < 2 * n) size *= 2
  const real = new Float64Array(size)
  const imaginary = new Float64Array(size)
  real.set(values)
  transform(real, imaginary)
  for (let i = 0; i < size; i++) {
    real[i] = (real[i] as number) ** 2 + (imaginary[i] as number) ** 2
    imaginary[i] = 0
  }
  // The power spectrum is even, so the forward transform is the inverse one up to the factor.
  transform(real, imaginary)
  const products = new Float64Array(n)
  for (let lag = 0; lag < n; lag++) products[lag] = (real[lag] as number) / size
  return products
}

function transform(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit
    j ^= bit
    if (i < j) {
      swap(real, i, j)
      swap(imaginary, i, j)
    }
  }
  // Filled anew for each span: of a million values these are 16 MB, which need not be there twenty times.
  const cosines = new Float64Array(size / 2)
  const sines = new Float64Array(size / 2)
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2
    for (let k = 0; k < half; k++) {
      cosines[k] = Math.cos((2 * Math.PI * k) / span)
      sines[k] = -Math.sin((2 * Math.PI * k) / span)
    }
    for (let start = 0; start < size; start += span) {
      for (let k = 0; k < half; k++) {
        const upper = start + k
        const lower = upper + half
        const c = cosines[k] as number
        const s = sines[k] as number
        const x = real[lower] as number
        const y = imaginary[lower] as number
        const turnedReal = x * c - y * s
        const turnedImaginary = x * s + y * c
        real[lower] = (real[upper] as number) - turnedReal
        imaginary[lower] = (imaginary[upper] as number) - turnedImaginary
        real[upper] = (real[upper] as number) + turnedReal
        imaginary[upper] = (imaginary[upper] as number) + turnedImaginary
      }
    }
  }
}

function swap(values: Float64Array, i: number, j: number): void {
  const kept = values[i] as number
  values[i] = values[j] as number
  values[j] = kept
}
