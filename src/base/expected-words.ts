const kindWords: Readonly<Record<string, string>> = {
  Array: 'a list',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
}

/** What valibot says that a schema expects, `(string | Object)`, in words: "text or a map". `object` is what the file's language calls one. */
export function expectedWords(expected: string | null, object: 'a map' | 'an object'): string {
  if (expected === null) return 'something else'
  const parts = expected.replace(/^\((.*)\)$/, '$1').split(' | ')
  return [...new Set(parts.map((part) => (part === 'Object' ? object : (kindWords[part] ?? part))))].join(
    ' or ',
  )
}

/** A value as it may be quoted: its JSON, at most 60 letters. */
export function quotedValue(input: unknown): string {
  const json = JSON.stringify(input) ?? String(input)
  return json.length > 60 ? `${json.slice(0, 57)}...` : json
}
