// Result files of other tools of any size, in the shapes that they really write: each a generator of pieces of text, given how many bytes
// there shall be and how many there are. Requests differ from one another, so that no column compresses to nothing.

const sentence = 'The quick brown fox jumps over the lazy dog. '
/** What a model answers, and what it was asked. */
const text = sentence.repeat(40)
const epochNs = 1_788_226_305_000_000_000n
const epochS = 1_788_226_305

/** A hundred gaps in ms. */
const gapsOf = (i) =>
  Array.from({ length: 100 }, (_, gap) => 9 + ((i * 31 + gap * 17) % 200) / 100 + ((i * 7919) % 1000) / 1e6)
const ttftMsOf = (i) => 100 + (i % 50) + ((i * 7919) % 1000) / 1e3
const isoAt = (i) =>
  `${new Date(epochS * 1000 + i * 10).toISOString().slice(0, -1)}${String((i * 7919) % 1e6).padStart(6, '0')}Z`

function* elements(target, written, each) {
  for (let i = 0; written() < target; i++) yield `${i > 0 ? ',\n' : ''}${each(i)}`
}

/** vLLM's and SGLang's lists: a column of all requests after the other. */
function* columns(requests, of) {
  for (const [name, each] of Object.entries(of)) {
    yield `"${name}":[`
    for (let i = 0; i < requests; i++) yield `${i > 0 ? ', ' : ''}${each(i)}`
    yield '],\n'
  }
}

const servingColumns = {
  input_lens: () => 256,
  output_lens: () => 101,
  ttfts: (i) => ttftMsOf(i) / 1000,
  itls: (i) =>
    `[${gapsOf(i)
      .map((gap) => gap / 1000 + 1.1e-12)
      .join(', ')}]`,
  generated_texts: () => `"${text}"`,
  errors: () => '""',
}
const servingRequests = (target) => Math.round(target / (100 * 22 + text.length + 60))

export const resultFiles = {
  *'aiperf.jsonl'(target, written) {
    for (let i = 0; written() < target; i++) {
      const start = epochNs + BigInt(i) * 10_000_000n
      const gaps = gapsOf(i).map((gap) => gap.toFixed(6))
      yield `{"metadata":{"request_start_ns":${start},"request_end_ns":${start + 1_100_000_000n},"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"time_to_first_token":{"value":${ttftMsOf(i)},"unit":"ms"},"request_latency":{"value":${1000 + ttftMsOf(i)},"unit":"ms"},"inter_chunk_latency":{"value":[${gaps.join(',')}],"unit":"ms"},"output_sequence_length":{"value":101,"unit":"tokens"}},"error":null}\n`
    }
  },
  *'guidellm.json'(target, written) {
    yield '{"metadata":{"version":2},"benchmarks":[{"config":{"strategy":{"type_":"constant","rate":100}},"requests":{"successful":['
    yield* elements(target, written, (i) => {
      const at = epochS + i / 100
      return `{"request_id":"r${i}","request_args":${JSON.stringify(JSON.stringify({ prompt: text }))},"output":"${text}","info":{"status":"completed","timings":{"request_start":${at},"first_token_iteration":${at + ttftMsOf(i) / 1000},"last_token_iteration":${at + 1.1},"request_end":${at + 1.11}}},"output_metrics":{"text_tokens":101},"input_metrics":{"text_tokens":256}}`
    })
    yield ']}}]}'
  },
  *'vllm.json'(target) {
    const requests = servingRequests(target)
    yield `{"endpoint_type":"openai","completed":${requests},"duration":${requests / 100 + 2},`
    yield* columns(requests, { ...servingColumns, start_times: (i) => 9000 + i / 100 })
    yield '"backend":"openai"}'
  },
  *'sglang.jsonl'(target) {
    const requests = servingRequests(target)
    yield `{"backend":"sglang-oai-chat","request_rate":Infinity,"max_concurrency":64,"duration":${requests / 100 + 2},"completed":${requests},"total_output_tokens":${requests * 101},"mean_ttft_ms":125.0,"accept_length":null,`
    yield* columns(requests, servingColumns)
    yield '"mean_e2e_latency_ms":1125.0}\n'
  },
  *'inference-perf.json'(target, written) {
    yield '['
    yield* elements(target, written, (i) => {
      const at = 5000 + i / 100
      let time = at + ttftMsOf(i) / 1000
      const times = [time, ...gapsOf(i).map((gap) => (time += gap / 1000))]
      return `{"start_time": ${at}, "end_time": ${time + 0.001}, "request": "${text}", "response": "", "info": {"request_metrics": {"text": {"input_tokens": 256}}, "response_metrics": {"output_tokens": 101, "response_chunks": ["${sentence}", "${sentence}"], "chunk_times": [], "output_token_times": [${times.join(', ')}]}, "lora_adapter": null}, "error": null}`
    })
    yield ']'
  },
  *'genai-bench.json'(target, written) {
    yield '{"aggregated_metrics": {"scenario": "D(256,101)", "num_concurrency": 64, "run_duration": 100000},\n"individual_request_metrics": ['
    yield* elements(target, written, (i) => {
      const [ttft, e2e] = [ttftMsOf(i) / 1000, 1 + ttftMsOf(i) / 1000 + i / 1e9]
      return `    {\n      "ttft": ${ttft},\n      "tpot": ${(e2e - ttft) / 100},\n      "e2e_latency": ${e2e},\n      "output_latency": ${e2e - ttft},\n      "output_inference_speed": ${100 / (e2e - ttft)},\n      "num_input_tokens": 256,\n      "num_output_tokens": 101,\n      "total_tokens": 357,\n      "input_throughput": ${256 / ttft},\n      "output_throughput": ${100 / (e2e - ttft)},\n      "error_code": null,\n      "error_message": null\n    }`
    })
    yield '],\n"_time_unit": "s"}'
  },
  *'llmperf.json'(target, written) {
    yield '['
    yield* elements(target, written, (i) => {
      const [ttft, e2e] = [ttftMsOf(i) / 1000, 1 + ttftMsOf(i) / 1000 + i / 1e9]
      return `    {\n        "error_code": null,\n        "error_msg": "",\n        "inter_token_latency_s": ${e2e / 101},\n        "ttft_s": ${ttft},\n        "end_to_end_latency_s": ${e2e},\n        "request_output_throughput_token_per_s": ${101 / e2e},\n        "number_total_tokens": 357,\n        "number_output_tokens": 101,\n        "number_input_tokens": 256\n    }`
    })
    yield ']'
  },
  *'mlc-events.jsonl'(target, written) {
    // Sixteen requests at once, their events one among the other.
    const event = (type, ns, i, more = '') =>
      `{"event_type":"sample.${type}","timestamp_ns":${ns},"sample_uuid":"${i.toString(16).padStart(32, '0')}","conversation_id":"","turn":null${more},"worker_id":${i % 4}}\n`
    for (let first = 0; written() < target; first += 16) {
      const requests = Array.from({ length: 16 }, (_, at) => first + at)
      const at = requests.map((i) => epochNs + BigInt(i) * 10_000_000n)
      const gaps = requests.map(gapsOf)
      for (const [slot, i] of requests.entries()) yield event('issued', at[slot], i)
      for (let chunk = 0; chunk <= 100; chunk++) {
        for (const [slot, i] of requests.entries()) {
          const ms = chunk === 0 ? ttftMsOf(i) : gaps[slot][chunk - 1]
          at[slot] += BigInt(Math.round(ms * 1e6))
          yield event(chunk === 0 ? 'recv_first' : 'recv_non_first', at[slot], i)
        }
      }
      for (const [slot, i] of requests.entries())
        yield event('complete', at[slot] + 900_000n, i, ',"finish_reason":"stop"')
    }
  },
  *'k6.json'(target, written) {
    const tags =
      '"expected_response":"true","group":"","method":"POST","name":"http://localhost:8000/v1/completions","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://localhost:8000/v1/completions"'
    const metrics = {
      http_reqs: () => 1,
      http_req_duration: (i) => 1000 + ttftMsOf(i),
      http_req_blocked: () => 0.003,
      http_req_connecting: () => 0,
      http_req_tls_handshaking: () => 0,
      http_req_sending: () => 0.02,
      http_req_waiting: (i) => ttftMsOf(i),
      http_req_receiving: () => 1000,
      http_req_failed: () => 0,
    }
    for (const name of Object.keys(metrics))
      yield `{"type":"Metric","data":{"name":"${name}","type":"trend","contains":"time","thresholds":[],"submetrics":null},"metric":"${name}"}\n`
    for (let i = 0; written() < target; i++)
      for (const [name, of] of Object.entries(metrics))
        yield `{"metric":"${name}","type":"Point","data":{"time":"${isoAt(i)}","value":${of(i)},"tags":{${tags}}}}\n`
  },
  *'vegeta.json'(target, written) {
    const body = Buffer.from(text).toString('base64')
    for (let i = 0; written() < target; i++)
      yield `{"attack":"","seq":${i},"code":200,"timestamp":"${isoAt(i)}","latency":${Math.round((1000 + ttftMsOf(i)) * 1e6)},"bytes_out":900,"bytes_in":${text.length},"error":"","body":"${body}","method":"POST","url":"http://localhost:8000/v1/completions","headers":{"Content-Type":["application/json"],"Date":["Sat, 01 Aug 2026 10:00:00 GMT"]}}\n`
  },
  *'oha.csv'(target, written) {
    yield 'request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n'
    for (let i = 0; written() < target; i++)
      yield `${(i / 100 + 1.1e-9).toFixed(9)},0.000012875,0.000263291,${(ttftMsOf(i) / 1000).toFixed(9)},${(1 + ttftMsOf(i) / 1000).toFixed(9)},1800,200\n`
  },
  *'hey.csv'(target, written) {
    yield 'response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n'
    for (let i = 0; written() < target; i++)
      yield `${(1 + ttftMsOf(i) / 1000).toFixed(4)},0.0003,0.0001,0.0000,${(ttftMsOf(i) / 1000).toFixed(4)},1.0000,200,${(i / 100).toFixed(4)}\n`
  },
}
