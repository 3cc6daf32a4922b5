import type { Ticks } from './metronome.ts'

/**
 * What a worker does with a message of the metronome: it looks for what is due, and lets the next message through only once the
 * event loop has gone round (`soon`). A port hands over what it has without a pause; in a thread that is behind there would
 * always be one more, while answers wait to be read and timed.
 */
export function tickGate(
  { signals, cell }: Pick<Ticks, 'signals' | 'cell'>,
  tick: () => void,
  soon: (callback: () => void) => void,
): () => void {
  function open(): void {
    Atomics.store(signals, cell, 0)
    // What became due in between had its message withheld.
    tick()
  }
  return () => {
    tick()
    soon(open)
  }
}
