import type { FlagSpecs } from '../verb.ts'

const demand = 'The demand'
const fleet = 'The fleet'
const replica = 'A replica'
const deploy = 'What is written'
const trial = 'A day that it is tried on'

export const marginFlags: FlagSpecs = {
  margin: {
    kind: 'text',
    group: demand,
    brief: 'Kept free: derate:20% runs each at 80 %, uplift:20% takes the peak as 20 % higher',
    placeholder: 'SHARE',
    default: '0',
  },
}

export const startFlags: FlagSpecs = {
  ramp: {
    needs: 'out',
    kind: 'text',
    group: demand,
    brief: 'How fast the demand grows: 0.1/s each second, or 6/s each minute as 6/s/min',
    placeholder: 'RATE',
  },
  'cold-start': {
    kind: 'text',
    group: replica,
    brief: 'From the order to the first answer, measured: 40s or 40s-50s',
    placeholder: 'TIME',
  },
  weights: {
    kind: 'text',
    group: replica,
    brief: 'Size of the weights, to reckon the start',
    placeholder: 'BYTES',
  },
  bandwidth: {
    kind: 'text',
    group: replica,
    brief: 'At which they are loaded: 2GB/s, 16Gbit/s',
    placeholder: 'RATE',
  },
  schedule: {
    needs: 'weights',
    kind: 'text',
    group: replica,
    brief: 'Until the pod is placed',
    placeholder: 'TIME',
    default: '0',
  },
  init: {
    needs: 'weights',
    kind: 'text',
    group: replica,
    brief: 'Of the engine, beside the weights',
    placeholder: 'TIME',
    default: '0',
  },
  'warm-up': {
    needs: 'weights',
    kind: 'text',
    group: replica,
    brief: 'Compilation and graphs',
    placeholder: 'TIME',
    default: '0',
  },
  probe: {
    needs: 'weights',
    kind: 'text',
    group: replica,
    brief: 'Period of the readiness probe',
    placeholder: 'TIME',
    default: '10s',
  },
}

export const planFlags: FlagSpecs = {
  peak: {
    kind: 'text',
    group: demand,
    brief: 'Requests of the busiest minute: 40/s, 2400/min',
    placeholder: 'RATE',
  },
  ...marginFlags,
  class: {
    kind: 'list',
    group: demand,
    brief: 'Demand of a class of its own, with its sweep: chat=30/s or batch=10/s@runs/b',
    placeholder: 'NAME=RATE',
  },
  burst: {
    kind: 'text',
    group: demand,
    brief: 'Size for the P99 of random arrivals over this window, not for their mean',
    placeholder: 'TIME',
  },
  survive: { kind: 'text', group: fleet, brief: 'Replicas that may be lost', placeholder: 'N', default: '0' },
  zones: { kind: 'text', group: fleet, brief: 'Equal zones that they stand in', placeholder: 'N' },
  'survive-zones': {
    needs: 'zones',
    kind: 'text',
    group: fleet,
    brief: 'Zones that may be lost',
    placeholder: 'N',
    default: '1',
  },
  imbalance: {
    kind: 'text',
    group: fleet,
    brief: 'Load of the busiest replica over the mean',
    placeholder: 'FACTOR',
    default: '1',
  },
  availability: {
    kind: 'text',
    group: fleet,
    brief: 'Of one replica, to tell how often enough are up: 99%',
    placeholder: 'SHARE',
  },
  'want-up': {
    needs: 'availability',
    kind: 'text',
    group: fleet,
    brief: 'How often enough have to be up: 99.9%',
    placeholder: 'SHARE',
  },
  each: {
    kind: 'text',
    group: replica,
    brief: 'What one carries, typed instead of a sweep',
    placeholder: 'RATE',
  },
  'tensor-parallel': {
    kind: 'text',
    group: replica,
    brief: 'GPUs of a replica',
    placeholder: 'N',
    aliases: ['tensor-parallel-size', 'gpus-per-replica'],
    letter: 't',
    default: '1',
  },
  price: {
    kind: 'text',
    group: replica,
    brief: 'Of a GPU for an hour, to reckon the cost',
    placeholder: 'AMOUNT',
  },
  'max-num-seqs': {
    kind: 'text',
    group: replica,
    brief: 'A batch to ask about; refused beyond what was tested',
    placeholder: 'N',
  },
  'tested-max-num-seqs': {
    needs: 'max-num-seqs',
    kind: 'text',
    group: replica,
    brief: "The engine's cap while it was tested",
    placeholder: 'N',
  },
  'max-wait': {
    kind: 'text',
    group: replica,
    brief: 'Longest time in the queue',
    placeholder: 'TIME',
    default: 'what the TTFT limit leaves',
  },
  'prefill-rate': {
    kind: 'text',
    group: replica,
    brief: 'Prompt tokens per second of prefill alone, for --max-num-queued-tokens',
    placeholder: 'RATE',
  },
  ...startFlags,
  simulate: {
    kind: 'switch',
    group: trial,
    brief: 'Try the plan on a day of traffic with the losses it is to survive; exit 3 if it fails',
  },
  model: {
    kind: 'text',
    group: trial,
    brief: 'The engine: a file of plimsoll model fit or measure, or a preset',
    placeholder: 'FILE',
    default: 'the embedded engine that the sweep loaded, or one fitted to its runs',
  },
  traffic: {
    kind: 'text',
    group: trial,
    brief: 'Recorded traffic, or "daily 4/s..40/s over 24h"',
    placeholder: 'FILE',
    default: 'a day that rises from a tenth of the peak to the peak',
  },
  prompt: {
    kind: 'text',
    group: trial,
    brief: 'Length of prompts',
    placeholder: 'LENGTH',
    default: "those of the sweep's requests",
  },
  output: {
    kind: 'text',
    group: trial,
    brief: 'Length of answers',
    placeholder: 'LENGTH',
    default: "those of the sweep's requests",
  },
  slo: {
    kind: 'list',
    group: trial,
    brief: 'Objective of the day: "ttft < 1s and tpot < 40ms, good 99%"',
    placeholder: 'TEXT',
    aliases: ['objective'],
    default: "the sweep's",
  },
  router: {
    kind: 'text',
    group: trial,
    brief: 'random, round-robin, least-loaded or prefix-aware',
    placeholder: 'KIND',
    default: 'least-loaded',
  },
  seed: { kind: 'text', group: trial, brief: 'Of the arrivals', placeholder: 'SEED', default: '1' },
  gpu: { kind: 'text', group: deploy, brief: 'The GPU, for the page', placeholder: 'NAME' },
  'engine-args': {
    kind: 'text',
    group: deploy,
    brief: "The engine's flags while it was tested, for the page",
    placeholder: 'TEXT',
  },
  expires: {
    kind: 'text',
    group: deploy,
    brief: 'How long the figures hold, from the day they were measured',
    placeholder: 'TIME',
    default: '90d',
  },
  out: {
    kind: 'text',
    group: deploy,
    brief: 'Folder for the capacity page, SLO rules, scalers, engine flags and gateway limits',
    placeholder: 'DIR',
    letter: 'o',
  },
  force: { needs: 'out', kind: 'switch', group: deploy, brief: 'Write into a folder that holds something' },
}
