// docs/benchmarks.md out of the results of bench/main.mjs.

/** Worst news first: what was missed by most, then what could not be read, then what was kept, then what was not run. */
export function page({ results, quick, machine }) {
  const rows = results
    .flatMap((result) => result.bench.claims.map((claim) => rowOf(claim, result)))
    .sort((a, b) => b.badness - a.badness)
  const missed = rows.filter(({ verdict }) => verdict.startsWith('MISSED'))
  const shares = results.map(({ busyBefore }) => busyBefore).filter((share) => share !== null)
  const busy = Math.max(0, ...shares) > 0.1
  return `# Benchmarks

Written by \`npm run bench\`: do not edit. Each figure is the median of its rounds, each beside what the same machine did at the same
time with less; ratios are what carries over to other machines. What each bench does stands at the head of its file in \`bench/\`.

${summary(rows, missed)}

| machine | |
| --- | --- |
| CPU | ${machine.cores} × ${machine.cpu} |
| memory | ${machine.memoryGib.toFixed(1)} GiB |
| system | ${machine.system} |
| Node | ${machine.node} |
| plimsoll | ${machine.version}${machine.commit === null ? '' : ` at ${machine.commit}`}, ${machine.date}${quick ? ', `--quick`' : ''} |
| the machine, before each bench | ${shares.length === 0 ? '' : `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))} % busy`} |
${busy ? '\nThe machine did other work meanwhile (over 10 % of it was in use before a bench began): latencies are those of a busy machine.\n' : ''}
| what | budget | measured | of the budget | verdict | beside it, in the same run |
| --- | --- | --- | --- | --- | --- |
${rows.map(({ line }) => line).join('\n')}

Budgets in µs and ms were written on a machine where a bare Node socket takes 6.3 µs an event and its stamps are 0.36 ms late at p99: the
rows "times a bare socket" hold the same budgets on any machine.

Busy before, and how long each took: ${results
    .filter(({ skipped }) => !skipped)
    .map(
      ({ bench, busyBefore, seconds }) => `${bench.name} ${percent(busyBefore)} % (${seconds.toFixed(0)} s)`,
    )
    .join(', ')}.

## Raw outputs

${results
  .filter(({ skipped }) => !skipped)
  .map(
    ({ bench, output, failure }) =>
      `<details><summary>${bench.name}${failure === null ? '' : `: ${failure}`}</summary>\n\n\`\`\`\n${plain(output)}\n\`\`\`\n\n</details>`,
  )
  .join('\n\n')}
`
}

function summary(rows, missed) {
  const measured = rows.filter(({ value }) => value !== null).length
  const rest = rows.length - measured
  const unread = rest === 0 ? '' : `; ${rest} not measured`
  if (missed.length === 0) return `**All ${measured} measured budgets are kept${unread}.**`
  return `**${missed.length} of ${measured} measured budgets ${missed.length === 1 ? 'is' : 'are'} missed${unread}.**`
}

function rowOf(claim, { output, failure, skipped }) {
  const value = skipped || failure !== null ? null : claim.read(output)
  const sign = claim.atLeast === true ? '≥' : '≤'
  const budget = `${sign} ${claim.budget.toLocaleString('en-US')} ${claim.unit}`
  if (value === null) {
    const why = skipped
      ? `not run: \`--quick\``
      : (failure ?? claim.absent ?? 'nothing to read in what it printed')
    const badness = skipped || (failure === null && claim.absent !== undefined) ? -1e9 : 1e6
    return { value, badness, verdict: why, line: `| ${claim.what} | ${budget} | | | ${why} | |` }
  }
  const kept = claim.atLeast === true ? value >= claim.budget : value <= claim.budget
  const ratio = claim.budget === 0 ? null : value / claim.budget
  // How far over the budget, whichever way it is meant.
  const badness = ratio === null ? (kept ? -1 : 1e3) : claim.atLeast === true ? 1 / ratio : ratio
  const verdict = kept ? 'kept' : 'MISSED'
  const peer = claim.peer?.(output) ?? ''
  return {
    value,
    badness: kept ? badness - 1e3 : badness,
    verdict,
    line: `| ${claim.what} | ${budget} | ${figure(value)} ${claim.unit} | ${ratio === null ? '' : ratio.toFixed(2)} | ${kept ? verdict : `**${verdict}**`} | ${peer} |`,
  }
}

const percent = (share) => (100 * share).toFixed(0)

function figure(value) {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 4 })
}

/** Without the colours of a terminal, and no path of this machine. */
function plain(output) {
  return output.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '').trimEnd()
}
