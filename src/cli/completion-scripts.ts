/** A verb as a shell needs to know it. */
export interface CompletedVerb {
  readonly name: string
  readonly brief: string
  readonly flags: readonly CompletedFlag[]
  /** What stands after it without a dash, where that is a fixed list (`calc NAME`). */
  readonly words: readonly string[]
}

export interface CompletedFlag {
  /** Without dashes. */
  readonly name: string
  readonly brief: string
  readonly letter: string | null
  /** A file or folder follows: the shell completes its name. */
  readonly takesFile: boolean
  readonly takesValue: boolean
}

/** Everything is fixed text: the shell never starts plimsoll to complete a word. */
export function bashCompletion(verbs: readonly CompletedVerb[]): string {
  const cases = verbs.map(({ name, flags, words }) => {
    const files = flags.filter((flag) => flag.takesFile).map((flag) => `--${flag.name}`)
    const values = flags.filter((flag) => flag.takesValue && !flag.takesFile).map((flag) => `--${flag.name}`)
    const all = [...flags.map((flag) => `--${flag.name}`), '--help', ...words]
    return [
      `    ${name})`,
      ...(files.length === 0
        ? []
        : [
            `      case $before in ${files.join('|')}) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")); return ;; esac`,
          ]),
      ...(values.length === 0 ? [] : [`      case $before in ${values.join('|')}) return ;; esac`]),
      `      words="${all.join(' ')}" ;;`,
    ].join('\n')
  })
  return `# plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll
_plimsoll() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map(({ name }) => name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case $word in
    -*) ;;
    *) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _plimsoll plimsoll
`
}

export function zshCompletion(verbs: readonly CompletedVerb[]): string {
  const quote = (text: string): string => text.replaceAll("'", "'\\''")
  const brief = (text: string): string => quote(text).replaceAll(/[[\]\\:]/g, (sign) => `\\${sign}`)
  const names = verbs.map(({ name, brief: what }) => `    '${name}:${quote(what).replaceAll(':', '\\:')}'`)
  const cases = verbs.map(({ name, flags, words }) => {
    const specs = flags.map(({ name: flag, brief: what, takesFile, takesValue }) => {
      const value = takesFile ? ':file:_files' : takesValue ? ':value: ' : ''
      return `        '*--${flag}[${brief(what)}]${value}'`
    })
    const rest = words.length === 0 ? "'*:file:_files'" : `'1:name:(${words.join(' ')})'`
    return [
      `    ${name})`,
      '      _arguments -S \\',
      ...specs.map((spec) => `${spec} \\`),
      `        ${rest} ;;`,
    ].join('\n')
  })
  return `#compdef plimsoll
# plimsoll completion zsh > a folder of $fpath, as _plimsoll
_plimsoll() {
  local -a verbs
  verbs=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_plimsoll" ]; then _plimsoll "$@"; else compdef _plimsoll plimsoll; fi
`
}

export function fishCompletion(verbs: readonly CompletedVerb[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [
    '# plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish',
    'complete -c plimsoll -n __fish_use_subcommand -f',
  ]
  for (const { name, brief, flags, words } of verbs) {
    const inside = `-n '__fish_seen_subcommand_from ${name}'`
    lines.push(`complete -c plimsoll -n __fish_use_subcommand -a ${name} -d ${quote(brief)}`)
    for (const { name: flag, brief: what, letter, takesFile, takesValue } of flags) {
      const short = letter === null ? '' : ` -s ${letter}`
      const value = takesFile ? ' -r -F' : takesValue ? ' -x' : ''
      lines.push(`complete -c plimsoll ${inside} -l ${flag}${short}${value} -d ${quote(what)}`)
    }
    if (words.length > 0) lines.push(`complete -c plimsoll ${inside} -f -a ${quote(words.join(' '))}`)
  }
  return `${lines.join('\n')}\n`
}
