import { Announcements } from "./Announcements.ts"
import { PublicPages } from "./PublicPages.ts"

/** The part of public pages in the core. */
export const publicPages = { operations: Announcements, services: PublicPages.layer }
