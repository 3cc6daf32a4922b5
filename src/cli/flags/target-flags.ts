import type { FlagSpecs } from '../verb.ts'

const group = 'The server'

export const targetFlags: FlagSpecs = {
  url: {
    kind: 'text',
    group,
    brief:
      'Base address of an OpenAI-compatible server, or unix:/PATH of its socket; without it the embedded engine is started',
    placeholder: 'URL',
    aliases: ['base-url', 'api-base', 'target'],
    letter: 'u',
  },
  host: { kind: 'text', group, brief: 'Host, where there is no --url', placeholder: 'HOST' },
  port: { kind: 'text', group, brief: 'Port, where there is no --url', placeholder: 'PORT', default: '8000' },
  api: {
    kind: 'text',
    group,
    brief:
      'chat, completions, responses, anthropic, tgi, llamacpp or embeddings (vLLM: --backend openai-chat, openai)',
    placeholder: 'API',
    aliases: ['backend', 'endpoint-type'],
    default: 'chat',
  },
  'no-stream': {
    kind: 'switch',
    group,
    brief: 'Ask for answers in one piece: E2E and tokens are measured, TTFT and TPOT are not',
  },
  endpoint: {
    kind: 'text',
    group,
    brief: 'Path of the endpoint, if it is not that of the API',
    placeholder: 'PATH',
  },
  model: {
    kind: 'text',
    group,
    brief: 'Model; auto asks the server; a:3,b:1 spreads the requests over several by weight',
    placeholder: 'NAME',
    aliases: ['served-model-name'],
    letter: 'm',
    default: 'auto',
  },
  'key-env': {
    kind: 'text',
    group,
    brief: 'Environment variable that holds the API key; it is never printed nor stored',
    placeholder: 'NAME',
    default: 'OPENAI_API_KEY',
  },
  header: {
    kind: 'list',
    manyValues: true,
    group,
    brief: 'Further headers; values may hold {{segment}}, {{row.FIELD}}, {{env.NAME}} and their like',
    placeholder: 'NAME=VALUE',
    letter: 'H',
  },
  insecure: { kind: 'switch', group, brief: 'Do not verify the certificate', letter: 'k' },
  http2: { kind: 'switch', group, brief: 'Speak HTTP/2 (over TLS)' },
  'aws-sigv4': {
    kind: 'text',
    group,
    brief:
      'Sign requests for an AWS service (bedrock, sagemaker) with the credentials of AWS_ACCESS_KEY_ID, …',
    placeholder: 'SERVICE[:REGION]',
  },
  ca: { kind: 'text', group, brief: 'PEM file of a further certificate authority', placeholder: 'FILE' },
  'metrics-url': {
    kind: 'list',
    group,
    brief: 'Prometheus address of a replica; may be repeated',
    placeholder: 'URL',
  },
  'replica-header': {
    kind: 'text',
    group,
    brief: 'Response header that names the replica',
    placeholder: 'NAME',
  },
  'kv-tokens': {
    kind: 'text',
    group,
    brief: 'Size of the KV pool in tokens, where /metrics does not say',
    placeholder: 'N',
  },
}
