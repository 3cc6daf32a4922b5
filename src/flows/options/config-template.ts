/** What `plimsoll init` writes: every setting with its default or an example, commented. */
export const configTemplate = `# yaml-language-server: $schema=./node_modules/plimsoll/schema/config.schema.json
`
