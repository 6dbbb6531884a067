import { Watches } from "@tocsin/core/features/watches/Watches"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const watchUseCases = (services: Context.Context<Watches>) => {
  const watches = Context.get(services, Watches)
  return {
    listWatches: ({ query }) => watches.list(query),
    listPlaces: () => watches.places,
    getWatch: ({ params }) => watches.get(params.name),
    createWatch: ({ payload }) => watches.create(payload),
    changeWatch: ({ params, payload }) => watches.change(params.name, payload),
    pauseWatch: ({ params, payload }) => watches.pause(params.name, payload),
    removeWatch: ({ params }) => watches.remove(params.name),
    tryWatch: ({ payload }) => watches.try(payload),
  } satisfies OpsUseCases<"watches">
}
