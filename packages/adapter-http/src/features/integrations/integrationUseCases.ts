import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const integrationUseCases = (services: Context.Context<Integrations>) => {
  const integrations = Context.get(services, Integrations)
  return {
    listIntegrations: ({ query }) => integrations.list(query),
    getIntegration: ({ params }) => integrations.get(params.name),
    createIntegration: ({ payload }) => integrations.create(payload),
    changeIntegration: ({ params, payload }) => integrations.change(params.name, payload),
    listMails: ({ params }) => integrations.mails(params.name),
    tryMail: ({ params, payload }) => integrations.tryMail(params.name, payload),
    rotateIntegration: ({ params, payload }) => integrations.rotate(params.name, payload),
    removeIntegration: ({ params }) => integrations.remove(params.name),
  } satisfies OpsUseCases<"integrations">
}
