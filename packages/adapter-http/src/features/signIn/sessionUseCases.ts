import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const sessionUseCases = (services: Context.Context<Sessions>) => {
  const sessions = Context.get(services, Sessions)
  return {
    signOut: () => sessions.signOut,
    listSessions: ({ query }) => sessions.list(query),
    endSession: ({ params }) => sessions.end(params.id),
  } satisfies OpsUseCases<"sessions">
}
