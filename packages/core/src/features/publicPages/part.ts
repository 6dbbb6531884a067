import { Effect } from "effect"
import { Announcements } from "./Announcements.ts"
import { PublicPages } from "./PublicPages.ts"

/** The part of public pages in the core. */
export const publicPages = {
  operations: Announcements,
  lists: Effect.map(Announcements, ({ announcements }) => ({ announcements })),
  services: PublicPages.layer,
}
