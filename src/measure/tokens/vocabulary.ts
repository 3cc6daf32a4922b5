/**
 * The plain English words that random prompts are made of: three to six lower-case letters, common enough to be one token each
 * (with the blank before them) in nearly every vocabulary, and easy to tell apart in a log. What a word costs on the server at
 * hand is learnt, never assumed (`learn-word-costs.ts`).
 */
export const plainWords: readonly string[] = `
able about above across act add after again age ago agree air all allow almost alone along also always among amount and animal
answer any appear apply area arm around arrive art ask away baby back ball bank bar base battle bear beat become bed before begin
behind below best better beyond big bird black blood blue board boat body book both bottom box boy branch bread break bridge
bright bring broad broken brown build built burn busy but buy call came camp can car card care carry case cash catch
cause cell center chain chair chance change charge check child choice church circle city claim class clean clear close cloud
club coach coast coat code cold color come common cook cool copy corner cost could count course court cover create cross crowd
cup cut daily damage dance dark data date day deal death debate decide deep degree demand depth design desk detail did
die dinner direct doctor dog door double down dozen dream dress drink drive drop dry due during dust duty each early earth ease
east easy eat edge effect effort eight either empty end energy engine enjoy enough enter entire equal even event ever every
exact except expect eye face fact fail fair fall family famous far farm fast father fear feel few field fight figure file fill
film final find fine finish fire firm first fish five fix flat flight floor flow flower fly follow food foot for force
forest forget form former found four free fresh friend from front full fund game garden gas gate gather gave get girl give glad
glass goal gold good grand grass gray great green ground group grow growth guard guess guide hair half hall hand happen happy
hard has hat have head health hear heart heat heavy height held help her here high hill his hit hold hole home hope horse hot
hotel hour house how human hunt
`
  .trim()
  .split(/\s+/)

/** What every random prompt begins with, so that each word has a blank before it and costs the same wherever it stands. */
export const promptLead = 'Text'
