import { Operations } from "@tocsin/core/lists/Operations"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const rotaUseCases = (services: Context.Context<Operations>) => {
  const operations = Context.get(services, Operations)
  return {
    listRotas: () => operations.rotas,
    getRota: ({ params, query }) => operations.rota(params.name, query),
    listOverrides: ({ params, query }) => operations.overrides(params.name, query),
    createOverride: ({ params, payload }) => operations.override(params.name, payload),
    endOverride: ({ params }) => operations.endOverride(params.name, params.id),
  } satisfies OpsUseCases<"rotas">
}
