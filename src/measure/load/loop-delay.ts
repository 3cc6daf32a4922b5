import { addToSketch, type LiveSketch, liveSketch } from './live-sketch.ts'

const everyMs = 10

/**
 * Watches an event loop: a timer each 10 ms, and how much later than that it came. A stall is seen when it covers a firing, so the
 * quantiles are those of the delay that an event meets at a random moment.
 */
export function watchLoopDelay(
  clock: { nowMs(): number },
  timers: {
    setInterval(callback: () => void, ms: number): unknown
    clearInterval(handle: unknown): void
  },
): { readonly sketch: LiveSketch; stop(): void } {
  const sketch = liveSketch()
  let last = clock.nowMs()
  const handle = timers.setInterval(() => {
    const nowMs = clock.nowMs()
    addToSketch(sketch, Math.max(0, nowMs - last - everyMs))
    last = nowMs
  }, everyMs)
  return { sketch, stop: () => timers.clearInterval(handle) }
}
