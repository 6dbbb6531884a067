import { firstRows } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { MAX_UNENDED_ANNOUNCEMENTS } from "./announcementDecisions.ts"

/** All that have not ended, and as many that have: more than a page or a feed shows. */
const MOST = 2 * MAX_UNENDED_ANNOUNCEMENTS

/** The announcements of a public page, by one query: those that have not ended first, then the latest ended. */
export const readAnnouncements = (storage: Storage["Service"], page: string) =>
  firstRows(storage, { list: "announcements", filter: { page }, sort: "ends_at", direction: "desc" }, MOST)
