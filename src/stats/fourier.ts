/**
 * Σ_t (d_t − c)·(d_{t+k} − c) of a series d with the `centre` c, for `count` lags k from `first` on.
 *
 * By Fourier transforms (Cooley and Tukey 1965) of pieces twice as long as the lags are many, whose cross spectra are summed before
 * one transform back (sectioned correlation: Stockham, "High-speed convolution and correlation", 1966): n log L where the direct
 * sums are n·L, in memory that grows with the number L of lags and not with the series.
 */
export function laggedProducts(
  values: ArrayLike<number>,
  first: number,
  count: number,
  centre = 0,
): Float64Array {
  const n = values.length
  let size = 2
  while (size < 2 * count) size *= 2
  const step = size / 2
  const rotations = rotationsOf(size)
  const spectrumReal = new Float64Array(size)
  const spectrumImaginary = new Float64Array(size)
  const real = new Float64Array(size)
  const imaginary = new Float64Array(size)
  const deviation = (at: number): number => (at < n ? (values[at] as number) - centre : 0)
  for (let start = 0; start + first < n; start += step) {
    // Two real series in one transform: a piece, and the values that its lags reach.
    for (let i = 0; i < size; i++) {
      real[i] = i < step ? deviation(start + i) : 0
      imaginary[i] = deviation(start + first + i)
    }
    transform(real, imaginary, rotations)
    addCrossSpectrum(real, imaginary, spectrumReal, spectrumImaginary)
  }
  // The products are real: the transform of the conjugate spectrum is the one back, but for the factor.
  for (let i = 0; i < size; i++) spectrumImaginary[i] = -(spectrumImaginary[i] as number)
  transform(spectrumReal, spectrumImaginary, rotations)
  return spectrumReal.slice(0, count).map((product) => product / size)
}

/**
 * Adds conj(A)·B of the series a and b, of which z = a + ib was transformed: A_f = (Z_f + conj Z_−f) ÷ 2 and
 * B_f = (Z_f − conj Z_−f) ÷ 2i.
 */
function addCrossSpectrum(
  real: Float64Array,
  imaginary: Float64Array,
  sumReal: Float64Array,
  sumImaginary: Float64Array,
): void {
  const size = real.length
  for (let f = 0; f < size; f++) {
    const mirror = (size - f) & (size - 1)
    const [x, y] = [real[f] as number, imaginary[f] as number]
    const [u, v] = [real[mirror] as number, imaginary[mirror] as number]
    const [aReal, aImaginary] = [(x + u) / 2, (y - v) / 2]
    const [bReal, bImaginary] = [(y + v) / 2, (u - x) / 2]
    sumReal[f] = (sumReal[f] as number) + aReal * bReal + aImaginary * bImaginary
    sumImaginary[f] = (sumImaginary[f] as number) + aReal * bImaginary - aImaginary * bReal
  }
}

/** e^(−2πik/size) for k = 0 … size ÷ 2 − 1. */
interface Rotations {
  readonly cosines: Float64Array
  readonly sines: Float64Array
}

function rotationsOf(size: number): Rotations {
  const angles = Float64Array.from({ length: size / 2 }, (_, k) => (2 * Math.PI * k) / size)
  return { cosines: angles.map(Math.cos), sines: angles.map((angle) => -Math.sin(angle)) }
}

/** In place; the size is a power of two. */
function transform(real: Float64Array, imaginary: Float64Array, { cosines, sines }: Rotations): void {
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
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2
    const stride = size / span
    for (let start = 0; start < size; start += span) {
      for (let k = 0; k < half; k++) {
        const upper = start + k
        const lower = upper + half
        const c = cosines[k * stride] as number
        const s = sines[k * stride] as number
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
