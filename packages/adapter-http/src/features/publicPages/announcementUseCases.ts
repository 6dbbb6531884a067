import { Operations } from "@tocsin/core/lists/Operations"
import { Queries } from "@tocsin/core/lists/Queries"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const announcementUseCases = (services: Context.Context<Operations | Queries>) => {
  const operations = Context.get(services, Operations)
  const queries = Context.get(services, Queries)
  return {
    listAnnouncements: ({ query }) => queries.announcements(query),
    createAnnouncement: ({ payload }) => operations.announce(payload),
    updateAnnouncement: ({ params, payload }) => operations.updateAnnouncement(params.id, payload.text),
    endAnnouncement: ({ params }) => operations.endAnnouncement(params.id),
  } satisfies OpsUseCases<"announcements">
}
