import { Effect } from "effect"
import { Announcements } from "./Announcements.ts"
import { PublicPages } from "./PublicPages.ts"

export const publicPages = {
  operations: Announcements,
  lists: Effect.map(Announcements, ({ announcements }) => ({ announcements })),
  services: PublicPages.layer,
}
