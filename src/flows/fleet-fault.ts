import { PlimsollError } from '../base/errors.ts'
import { parseDurationMs } from '../base/units.ts'
import { parseFault } from '../simulate/engine/fault-grammar.ts'
import type { FleetFault } from '../simulate/fleet/fleet-spec.ts'

/**
 * `kill replica 3 at 60s [restart 2m]`, `replica 0: stall 5s at 10s` (any fault of the engine), `drop metrics at 60s for 5m`,
 * `freeze metrics at 60s for 5m`. Replicas are counted from 0.
 */
export function parseFleetFault(text: string): FleetFault {
  const kill = /^\s*kill\s+replica\s+(\d+)\s+at\s+(\S+)(?:\s+restart\s+(?:after\s+)?(\S+))?\s*$/.exec(text)
  if (kill !== null) {
    return {
      kind: 'kill',
      replica: Number(kill[1]),
      atMs: parseDurationMs(kill[2] ?? ''),
      restartMs: kill[3] === undefined ? null : parseDurationMs(kill[3]),
    }
  }
  const one = /^\s*replica\s+(\d+)\s*:\s*(.+)$/.exec(text)
  if (one !== null) return { kind: 'engine', replica: Number(one[1]), fault: engineFault(one[2] ?? '') }
  const fault = parseFault(text.trim(), 'faults')
  if (fault.kind === 'drop_metrics' || fault.kind === 'freeze_metrics') {
    return {
      kind: 'metrics',
      mode: fault.kind === 'drop_metrics' ? 'dropped' : 'frozen',
      fromMs: fault.fromMs,
      untilMs: fault.untilMs ?? Number.POSITIVE_INFINITY,
    }
  }
  throw new PlimsollError('PLIM_FAULT', 'a fault of an engine needs its replica', {
    expected: `"replica 0: ${text.trim()}", "kill replica 0 at 60s" or "drop metrics at 60s for 5m"`,
    received: text,
  })
}

function engineFault(text: string): ReturnType<typeof parseFault> {
  const fault = parseFault(text, 'faults')
  if (fault.kind === 'stall' || fault.kind === 'slow' || fault.kind === 'kv') return fault
  throw new PlimsollError('PLIM_FAULT', 'this fault has no meaning in a simulated fleet', {
    expected: 'stall, slow or kv; kill replica N at T',
    received: text,
  })
}
