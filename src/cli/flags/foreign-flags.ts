import type { FlagSpecs } from '../verb.ts'

function elsewhere(...words: readonly (readonly [name: string, word: string])[]): FlagSpecs {
  return Object.fromEntries(
    words.map(([name, word]) => [
      name,
      { kind: 'switch', group: 'Elsewhere', brief: word, refused: word, hidden: true },
    ]),
  )
}

/** Flags of AIPerf, GuideLLM, SGLang and others that say what is said otherwise here: each is refused with how. */
export const foreignFlags: FlagSpecs = elsewhere(
  ['api-key', 'a key on a command line is seen by all: put it into a variable, --key-env NAME'],
  ['profile', '--request-rate 6, --concurrency 32 or --pacer say the load; plimsoll sweep rises by itself'],
  ['rate-type', '--request-rate 6, --concurrency 32 or --pacer say the load; plimsoll sweep rises by itself'],
  ['arrival-pattern', "--request-rate is Poisson; --pacer 'constant 6/s' or 'gamma 6/s cv 2' is not"],
  ['fixed-schedule', '--workload trace --dataset-path FILE is replayed at its own times'],
  ['data', '--prompt 256 --output 128, or --dataset-path FILE with --workload'],
  ['public-dataset', 'nothing is downloaded: --workload sharegpt --dataset-path FILE'],
  ['custom-dataset-type', '--workload jsonl, sharegpt, batch or trace'],
  ['isl-stddev', "--prompt 'normal 550 sd 50'"],
  ['osl-stddev', "--output 'normal 128 sd 20'"],
  ['extra-inputs', '--extra-body \'{"name": value}\''],
  ['disable-ignore-eos', '--no-ignore-eos'],
  ['lora-modules', '--model base:1,adapter-a:1,adapter-b:1'],
  ['lora-name', '--model base:1,adapter-a:1,adapter-b:1'],
  ['prefill-concurrency', 'the server alone decides how many prompts it takes at once'],
)
