import { Silences } from "@tocsin/core/features/silences/Silences"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const silenceUseCases = (services: Context.Context<Silences>) => {
  const silences = Context.get(services, Silences)
  return {
    listSilences: ({ query }) => silences.silences(query),
    getSilence: ({ params }) => silences.showSilence(params.id),
    createSilence: ({ payload, query }) =>
      query.dry_run ? silences.previewSilence(payload) : silences.silence(payload),
    changeSilence: ({ params, payload }) => silences.editSilence(params.id, payload),
    expireSilence: ({ params }) => silences.expireSilence(params.id),
  } satisfies OpsUseCases<"silences">
}
