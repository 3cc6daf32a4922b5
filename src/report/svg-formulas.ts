import type { MetricName } from '../measure/metrics/run-summary.ts'

/** How each figure is made, as its label says it on hovering; the words are those of docs/words.md. */
export const formulas: Readonly<Record<MetricName, string>> = {
  ttft_ms: 'TTFT = first output event (content, reasoning or tool call) − intended send',
  ttfc_ms: 'TTFC = first content that is not reasoning − intended send',
  ttfb_ms: 'TTFB = first byte of the body − intended send',
  e2e_ms: 'E2E = last output event − intended send',
  done_ms: 'done = end marker or close − intended send',
  tpot_ms: "TPOT = (E2E − TTFT) ÷ (N − 1), N = output tokens by the server's usage",
  gaps_ms: 'gap = time between two output events of one stream; an event may hold several tokens',
  itl_per_token_ms: 'ITL = gap ÷ tokens of the later event, once a token',
  lag_ms: 'lag = actual send − intended send',
  service_ttft_ms: 'service TTFT = TTFT − lag: from the actual send, which hides the wait before it',
  service_e2e_ms: 'service E2E = E2E − lag: from the actual send, which hides the wait before it',
  prompt_tokens: "prompt tokens by the server's usage",
  completion_tokens: "output tokens by the server's usage",
}
