import { Operations } from "@tocsin/core/lists/Operations"
import { Queries } from "@tocsin/core/lists/Queries"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const silenceUseCases = (services: Context.Context<Operations | Queries>) => {
  const operations = Context.get(services, Operations)
  const queries = Context.get(services, Queries)
  return {
    listSilences: ({ query }) => queries.silences(query),
    getSilence: ({ params }) => operations.showSilence(params.id),
    createSilence: ({ payload, query }) =>
      query.dry_run ? operations.previewSilence(payload) : operations.silence(payload),
    changeSilence: ({ params, payload }) => operations.editSilence(params.id, payload),
    expireSilence: ({ params }) => operations.expireSilence(params.id),
  } satisfies OpsUseCases<"silences">
}
