import type { Warning } from '../../base/warnings.ts'
import { randomStream } from '../../base/random.ts'
import { joined, learnWordCosts, type LearntWordCosts } from './learn-word-costs.ts'
import { tokenCounter, unknownTokenCounter, type TokenCounter } from './token-counter.ts'
import type { Tokenizer } from './tokenizer-json.ts'
import { plainWords, promptLead } from './vocabulary.ts'
import { composeWords, type WordCosts } from './word-costs.ts'

/** Who can be asked about lengths. */
export interface TokenSources {
  /** Tokens of a bare text, by the server's `/tokenize`; null where it has none. */
  readonly count: ((text: string) => Promise<number>) | null
  /** `usage.prompt_tokens` of a request with this prompt (and one token of output); null where none comes back. */
  readonly usage: (text: string) => Promise<number | null>
  /** A prompt whose usage is known already: the preflight's probe, of `words` words. */
  readonly probe: { readonly text: string; readonly words: number; readonly promptTokens: number | null }
}

/**
 * How long prompts are on this server: by the given tokenizer, else by its `/tokenize` where it has one, else calibrated on its
 * usage by a few small requests, else unknown. Lengths are those of `usage.prompt_tokens`, chat template included; a tokenizer
 * that counts otherwise than the server's usage is a finding.
 */
export async function learnTokens(
  sources: TokenSources,
  tokenizer: Pick<Tokenizer, 'count'> | null = null,
): Promise<TokenCounter> {
  const promptTokens = sources.probe.promptTokens ?? (await sources.usage(sources.probe.text))
  if (tokenizer !== null) return await byTokenizer(tokenizer, sources, promptTokens)
  if (sources.count !== null) return await byTokenize(sources.count, sources, promptTokens)
  if (promptTokens !== null) return await byUsage(promptTokens, sources)
  return unknownTokenCounter('the server has no /tokenize and sends no usage')
}

async function byTokenize(
  count: (text: string) => Promise<number>,
  { probe }: TokenSources,
  promptTokens: number | null,
): Promise<TokenCounter> {
  const learnt = await learnWordCosts(count)
  // What the usage has beyond the bare text: the chat template and its marks.
  const template = promptTokens === null ? null : promptTokens - (await count(probe.text))
  const words: WordCosts = {
    words: learnt.words,
    costs: learnt.costs,
    leadTokens: learnt.leadTokens + (template ?? 0),
  }
  const exact = learnt.worstErrorTokens === 0 && template !== null
  return tokenCounter({
    kind: 'server-tokenize',
    words,
    exact,
    basis: `learnt from /tokenize in ${learnt.calls + 1} questions: ${describe(learnt, template)}`,
    warnings: exact ? [] : [inexact('/tokenize', learnt.worstErrorTokens, template === null)],
  })
}

async function byTokenizer(
  tokenizer: Pick<Tokenizer, 'count'>,
  { probe, usage }: TokenSources,
  promptTokens: number | null,
): Promise<TokenCounter> {
  const learnt = await learnWordCosts((text) => Promise.resolve(tokenizer.count(text)))
  const template = promptTokens === null ? null : promptTokens - tokenizer.count(probe.text)
  // The template is in both prompts, so it cancels: what is left is a difference of vocabularies.
  const longer = promptLead + joined(plainWords)
  const asked = promptTokens === null ? null : await usage(longer)
  const mine = tokenizer.count(longer) - tokenizer.count(probe.text)
  const servers = asked === null || promptTokens === null ? null : asked - promptTokens
  const agrees = servers === null || servers === mine
  const exact = learnt.worstErrorTokens === 0 && servers !== null && agrees
  const warnings = !agrees
    ? [disagrees(mine, servers)]
    : exact
      ? []
      : [inexact('the tokenizer', learnt.worstErrorTokens, template === null)]
  return tokenCounter({
    kind: 'tokenizer',
    words: { words: learnt.words, costs: learnt.costs, leadTokens: learnt.leadTokens + (template ?? 0) },
    exact,
    basis: `counted by the tokenizer: ${describe(learnt, template)}; ${
      servers === null
        ? 'the server’s usage could not be compared'
        : agrees
          ? 'the server’s usage agrees'
          : 'the server’s usage does not agree'
    }`,
    warnings,
    countText: (text) => tokenizer.count(text),
  })
}

function describe(learnt: LearntWordCosts, template: number | null): string {
  const each = typeof learnt.costs === 'number' ? `of ${tokens(learnt.costs)} each` : 'of several tokens'
  const around = template === null ? 'what the chat template adds unknown' : `${template} tokens of template`
  const check = learnt.worstErrorTokens === 0 ? 'exact' : `off by up to ${tokens(learnt.worstErrorTokens)}`
  return `${learnt.words.length} words ${each}, ${around}; two prompts made to check were ${check}`
}

function disagrees(mine: number, servers: number): Warning {
  const percent = (100 * (servers - mine)) / mine
  return {
    kind: 'token_count_disagrees',
    message: `the server counts ${servers} tokens where the tokenizer counts ${mine} (${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(1)} %)`,
    cause: 'the tokenizer is not that of the model',
    next: 'give the model’s own tokenizer.json, or leave --tokenizer away: the server counts',
    evidence: { server_tokens: servers, tokenizer_tokens: mine },
  }
}

/**
 * A line through two prompts: one without a word, which is the template alone, and one with every word of the vocabulary once. Where
 * the second has exactly as many tokens more as words, each word costs one (none can cost less). The probe's few words stand in for
 * the first where a server does not answer so short a prompt; they cost what they cost, and not the mean.
 */
async function byUsage(probeTokens: number, { usage, probe }: TokenSources): Promise<TokenCounter> {
  const bare = await usage(promptLead)
  const all = await usage(promptLead + joined(plainWords))
  const first = bare === null ? { words: probe.words, tokens: probeTokens } : { words: 0, tokens: bare }
  if (all === null || all <= first.tokens) {
    return unknownTokenCounter('the server’s usage does not grow with the prompt')
  }
  const cost = (all - first.tokens) / (plainWords.length - first.words)
  const words: WordCosts = { words: plainWords, costs: cost, leadTokens: first.tokens - cost * first.words }
  const made = composeWords(words, checkTokens, randomStream('check', 'usage'))
  const counted = await usage(promptLead + made.text)
  const expected = words.leadTokens + made.tokens
  const error = counted === null ? null : Math.abs(counted - expected)
  const exact = error !== null && error < 0.5 && cost === 1
  return tokenCounter({
    kind: 'calibrated',
    words,
    exact,
    basis: `calibrated on the server's usage: ${tokens(cost)} a word and ${tokens(words.leadTokens)} a prompt (from ${first.words} and ${
      plainWords.length
    } words); a third prompt was ${error === null ? 'not counted' : error < 0.5 ? 'exact' : `off by ${tokens(error)} in ${counted}`}`,
    warnings: exact ? [] : [inexact('the usage of three probes', error, false)],
  })
}

const checkTokens = 512

function inexact(by: string, error: number | null, templateUnknown: boolean): Warning {
  return {
    kind: 'lengths_not_as_asked',
    message: templateUnknown
      ? 'prompt lengths leave out what the chat template adds'
      : `prompt lengths are near what was asked, not exact${error === null ? '' : `: a prompt made to check was off by ${tokens(error)}`}`,
    cause: templateUnknown
      ? 'the server sends no usage'
      : `lengths were learnt from ${by}, and words cost different numbers of tokens`,
    next: '--tokenizer PATH',
    evidence: { error_tokens: error, template_unknown: templateUnknown },
  }
}

function tokens(count: number): string {
  const shown = String(Number(count.toPrecision(4)))
  return `${shown} ${shown === '1' ? 'token' : 'tokens'}`
}
