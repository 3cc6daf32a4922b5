import type { Verb } from '../verb.ts'

export const doctorVerb: Verb = {
  brief: 'Are these metrics what the engine exports?',
  description:
    'Reads rules, autoscalers, dashboards and queries and checks every metric in them against what the engines export: names, _total, labels, types, bucket bounds, how many values come back. With --url against the very engine, with --prometheus against what was scraped. Exit 3 when something is wrong.',
  positional: { placeholder: 'FILE', brief: 'YAML, JSON or PromQL files', minimum: 0 },
  examples: [
    ['plimsoll doctor rules.yaml scaledobject.yaml dashboard.json', 'against the catalogue'],
    ['plimsoll doctor --url http://localhost:8000', 'which engine is it, and what does it export?'],
    ['plimsoll doctor --url http://localhost:8000 rules.yaml', 'against the very engine'],
  ],
  flags: {
    url: {
      kind: 'text',
      group: 'Live',
      placeholder: 'URL',
      brief: 'Engine whose /metrics is read',
      letter: 'u',
    },
    prometheus: {
      kind: 'text',
      group: 'Live',
      placeholder: 'URL',
      brief: 'Prometheus server that the queries are asked of',
    },
    engine: {
      kind: 'text',
      group: 'Catalogue',
      placeholder: 'NAME',
      brief: 'Only this engine’s names are right',
    },
    json: { kind: 'switch', group: 'Output', brief: 'One JSON document on stdout' },
    quiet: { kind: 'switch', group: 'Output', brief: 'Nothing on stderr but errors', letter: 'q' },
  },
  run: (invocation) => invocation.cli.flows.doctor(invocation),
}
