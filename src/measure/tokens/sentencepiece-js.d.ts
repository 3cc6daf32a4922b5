// What plimsoll uses of the package, which has no types of its own: SentencePiece itself, compiled to WebAssembly.
declare module '@agnai/sentencepiece-js' {
  interface SentencePieceProcessor {
    load(path: string): Promise<void>
    encodeIds(text: string): readonly number[]
  }
  const sentencePiece: { readonly SentencePieceProcessor: new () => SentencePieceProcessor }
  export default sentencePiece
}
