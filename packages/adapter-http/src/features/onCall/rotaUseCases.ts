import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const rotaUseCases = (services: Context.Context<OnCall>) => {
  const onCall = Context.get(services, OnCall)
  return {
    listRotas: () => onCall.rotas,
    getRota: ({ params, query }) => onCall.rota(params.name, query),
    listOverrides: ({ params, query }) => onCall.overrides(params.name, query),
    createOverride: ({ params, payload }) => onCall.override(params.name, payload),
    endOverride: ({ params }) => onCall.endOverride(params.name, params.id),
  } satisfies OpsUseCases<"rotas">
}
