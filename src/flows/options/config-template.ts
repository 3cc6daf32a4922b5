/**
 * What `plimsoll init` writes: every setting with a word on it. What is not commented out is what plimsoll does anyway, so that the
 * file changes nothing until it is edited. A test reads it back.
 */
export const configTemplate = `# yaml-language-server: $schema=./node_modules/plimsoll/schema/config.schema.json
# What the flags of plimsoll run and sweep can say; flags win over this file.

target:
  # url: http://localhost:8000     # without it the embedded engine is started
  api: chat                        # chat or completions
  model: auto                      # auto asks the server
  key: { env: OPENAI_API_KEY }     # the variable that holds the key; never the key itself
  # headers: { x-team: search }
  # metrics: [http://localhost:8000/metrics]
  # kv_tokens: 450000              # where /metrics does not say

# What is asked. Lengths: 900, uniform 100..200, normal 500 sd 50, or lognormal as a map.
workload:
  kind: random                     # random, mix, or with path: FILE jsonl, sharegpt, batch, trace
  # prompt: { lognormal: { median: 900, p99: 4096 } }
  # output: { mean: 256 }
  # prefix_hit_rate: 60%           # share of each prompt that all prompts begin with
  # classes: { chat: { weight: 3, scenario: 'D(900,200)' }, code: { weight: 1, scenario: 'D(2000,50)' } }  # of mix
  # turns: 4                       # sessions: each turn sends all that was said; turn_think: 2s
  # speed: 2x                      # of a trace: how many times as fast as it was recorded
  # cancel: { share: 10%, after: 500ms }   # the client hangs up on so many
  ignore_eos: true                 # answers of exactly the length asked for

# When it is asked. An open loop (all but users) never waits for an answer, as real users do not.
arrivals: { kind: poisson, rate: 5/s }
# arrivals: { kind: gamma, rate: 5/s, cv: 2 }
# arrivals: { kind: ramp, from: 1/s, to: 10/s, over: 5m }
# arrivals: { kind: users, users: 32, think: 0 }

window:
  warmup: 0                        # a time, or auto
  measure: 60s
  # requests: 1000                 # with measure, the first of both ends the run
  drain: 60s                       # how long the last answers are awaited

seed: 1                            # the same seed makes the same plan

# What is good. A run exits with 3 if one is missed.
# objectives:
#   chat: { each: ttft < 500ms and tpot < 30ms, good: 99.5%, over: 30d, shed: bad }

# How objectives are watched: plimsoll slo rules | test | page | budget.
# slo: { service: chat, engine: vllm, match: { model_name: llama }, policy: sre-workbook }

# What capacity means here: sweep looks for the load at which this is still kept.
# capacity: { at: p99 tpot <= 10ms, margin: derate:20%, survive: 1, peak: 40/s }

# sweep:
#   concurrency: auto              # or [1, 2, 4, 8]; or rates: [1, 2, 4]
#   points: 12
#   confirm: true

# client:
#   workers: 2
#   timeouts: { connect: 10s, first_token: 2m, idle: 2m, total: none }

# output: { runs_dir: runs, percentiles: [50, 90, 95, 99, 99.9] }

# plimsoll run: every combination of these flags, each so many times, as one experiment.
# matrix: { concurrency: [1, 8, 32], random-output-len: [64, 256] }
# repeat: 5

# Settings of the embedded engine, and what goes wrong in it.
# engine: { preset: demo, max_num_seqs: 64 }
# faults: [stall 3s at 10s]
`
