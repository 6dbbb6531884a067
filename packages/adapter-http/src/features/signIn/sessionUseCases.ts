import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const sessionUseCases = (services: Context.Context<Sessions>) => {
  const sessions = Context.get(services, Sessions)
  return {
    invite: ({ params }) => sessions.invite(params.name),
    listInvitations: ({ params }) => sessions.invitations(params.name),
    removeInvitation: ({ params }) => sessions.removeInvitation(params.name, params.id),
    signOut: () => sessions.signOut,
    listSessions: ({ query }) => sessions.list(query),
    endSession: ({ params }) => sessions.end(params.id),
  } satisfies OpsUseCases<"sessions">
}
