import type { ApiKind } from '../../../measure/wire/api.ts'
import { anthropicForm } from './answer-anthropic.ts'
import { type EmbeddingAsked, embeddingsForm } from './answer-embeddings.ts'
import type { AnswerForm, AnswerIdentity } from './answer-form.ts'
import { openAiForm } from './answer-json.ts'
import { llamacppForm } from './answer-llamacpp.ts'
import { responsesForm } from './answer-responses.ts'
import { tgiForm } from './answer-tgi.ts'

/** How the answers of an API are worded. `embedding` is for that API alone. */
export function answerForm(
  kind: ApiKind,
  identity: AnswerIdentity,
  embedding: { readonly asked: EmbeddingAsked; readonly promptKey: number },
): AnswerForm {
  switch (kind) {
    case 'responses':
      return responsesForm(identity)
    case 'anthropic':
      return anthropicForm(identity)
    case 'tgi':
      return tgiForm(identity)
    case 'llamacpp':
      return llamacppForm(identity)
    case 'embeddings':
      return embeddingsForm(identity, embedding.asked, embedding.promptKey)
    default:
      return openAiForm(kind, identity)
  }
}
