// Simulated requests a second of CPU time: a fleet of 100 replicas, requests of 1,024 prompt and 128 output tokens.
//   node bench/fleet.mjs [requests=1000000] [perSecond=2400] [router=random] [scheduler=vllm]
// It runs itself again with a garbage collector that has no threads, so that one core does all the work.
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** Only the first skips over steps. The load is the same for all; static batches are full at it. */
const schedulers = {
  vllm: {},
  async: { asyncScheduling: true },
  drafts: { speculative: { draftTokens: 3, acceptRates: [0.8, 0.7, 0.6] } },
  sglang: { policy: 'sglang' },
  static: { policy: 'static', maxNumSeqs: 64 },
}

/** `{requests, cpuSeconds, perCpuSecond, wallSeconds, simulatedSeconds, simulatedTokensPerCpuSecond}` */
export async function measureFleet({
  requests = 1_000_000,
  perSecond = 2400,
  router = 'random',
  scheduler = 'vllm',
} = {}) {
  const { simulateFleet } = await import('../dist/simulate/fleet/simulate-fleet.js')
  const { noAdmission, patientClients } = await import('../dist/simulate/fleet/fleet-spec.js')
  const { enginePreset } = await import('../dist/simulate/engine/presets.js')
  const spec = (count) => ({
    name: 'bench',
    seed: '1',
    durationMs: (1000 * count) / perSecond,
    drainMs: 600_000,
    groups: [
      {
        name: 'h100',
        replicas: 100,
        engine: { ...enginePreset('h100-8b').config, ...schedulers[scheduler] },
        costPerHour: null,
      },
    ],
    traffic: {
      kind: 'made',
      arrivals: { kind: 'poisson', ratePerSecond: perSecond },
      promptTokens: { kind: 'fixed', tokens: 1024 },
      outputTokens: { kind: 'fixed', tokens: 128 },
      sharing: null,
    },
    router: { kind: router, signalEveryMs: 0 },
    scaler: null,
    admission: noAdmission,
    clients: patientClients,
    faults: [],
    objective: null,
    windowMs: 60_000,
  })
  simulateFleet(spec(20_000))
  const [cpu, start] = [process.cpuUsage(), performance.now()]
  const { account, endedMs } = simulateFleet(spec(requests))
  const used = process.cpuUsage(cpu)
  const cpuSeconds = (used.user + used.system) / 1e6
  return {
    requests: account.answered,
    cpuSeconds,
    perCpuSecond: account.answered / cpuSeconds,
    wallSeconds: (performance.now() - start) / 1000,
    simulatedSeconds: endedMs / 1000,
    simulatedTokensPerCpuSecond: (account.answered * 1152) / cpuSeconds,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2)
  if (process.env.PLIMSOLL_BENCH_CHILD === undefined) {
    const child = spawnSync(process.execPath, ['--single-threaded-gc', process.argv[1], ...args], {
      stdio: 'inherit',
      env: { ...process.env, PLIMSOLL_BENCH_CHILD: '1' },
    })
    process.exitCode = child.status ?? 1
  } else {
    const [requests = '1000000', perSecond = '2400', router = 'random', scheduler = 'vllm'] = args
    console.log(
      JSON.stringify(
        await measureFleet({
          requests: Number(requests),
          perSecond: Number(perSecond),
          router,
          scheduler,
        }),
        (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value),
      ),
    )
  }
}
