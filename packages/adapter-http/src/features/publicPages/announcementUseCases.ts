import { Announcements } from "@tocsin/core/features/publicPages/Announcements"
import { Context } from "effect"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

export const announcementUseCases = (services: Context.Context<Announcements>) => {
  const announcements = Context.get(services, Announcements)
  return {
    listAnnouncements: ({ query }) => announcements.announcements(query),
    createAnnouncement: ({ payload }) => announcements.announce(payload),
    updateAnnouncement: ({ params, payload }) => announcements.updateAnnouncement(params.id, payload.text),
    endAnnouncement: ({ params }) => announcements.endAnnouncement(params.id),
  } satisfies OpsUseCases<"announcements">
}
