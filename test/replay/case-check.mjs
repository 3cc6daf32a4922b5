// Compares the row that the product gives with a case's expectation.

/** Beside the timing of the case's own server, how far a stamp may be off: the instrument's lag on a shared machine, ms. */
const stampLagMs = 15

/**
 * What differs, as sentences: `wrong` in itself, `late` in the stamps alone, which a busy machine can do. Both empty: it passes.
 */
export function checkCase(expect, row, serverLateMs) {
  const allowMs = stampLagMs + serverLateMs
  const wrong = []
  const late = []
  for (const [key, wanted] of Object.entries(expect)) {
    const got = valueOf(row, key, expect)
    if (
      !key.includes('_ms') ||
      key === 'retry_after_ms' ||
      wanted === null ||
      got === null ||
      got === undefined
    ) {
      if (!same(key, got, wanted)) wrong.push(`${key}: ${show(got)}, expected ${show(wanted)}`)
    } else if (Array.isArray(wanted)) {
      if (wanted.length !== got.length) {
        wrong.push(`${key}: ${got.length} of them, expected ${wanted.length}`)
      } else if (wanted.some((value, index) => Math.abs(value - got[index]) > allowMs)) {
        late.push(`${key}: ${show(got.map(rounded))}, expected ${show(wanted)}`)
      }
    } else if (Math.abs(wanted - got) > allowance(key, allowMs, expect)) {
      late.push(`${key}: ${rounded(got)}, expected ${wanted}`)
    }
  }
  return { wrong, late }
}

/** The cases know the server's token count alone; where it gives none our row counts events, and says so. */
function valueOf(row, key, expect) {
  const unknownCount = row.tokens_source === 'events' && expect.completion_tokens === null
  if (unknownCount && (key === 'completion_tokens' || key === 'tpot_ms')) return null
  if (key === 'tool_args_len') return row.tool_args.length
  if (key === 'tokens_per_output_chunk') return row.completion_tokens / row.n_output_chunks
  if (key === 'flags') return row.flags.filter((flag) => flag === 'not_streamed' || flag === 'coalesced')
  return row[key]
}

function same(key, got, wanted) {
  if (key === 'error_code') return got === wanted || String(got) === String(wanted)
  if (typeof wanted === 'number' && typeof got === 'number')
    return Math.abs(got - wanted) <= 1e-9 * Math.abs(wanted)
  return JSON.stringify(got) === JSON.stringify(wanted)
}

/** A TPOT divides the error of two stamps by the tokens between them. */
function allowance(key, allowMs, expect) {
  if (!key.startsWith('tpot')) return allowMs
  return (2 * allowMs) / Math.max(1, key === 'tpot_ms' ? expect.completion_tokens - 1 : expect.gaps_ms.length)
}

const rounded = (ms) => Math.round(ms * 10) / 10

function show(value) {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
