import { Announcements } from "@tocsin/core/features/publicPages/Announcements"
import { counted, example, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import * as PublicPageRoutes from "./PublicPageRoutes.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const ANNOUNCEMENT = {
  id: "019ae4a1-6c3c-7e4b-9c1d-2f3a4b5c6d7f",
  page: "example",
  kind: "incident",
  title: "The shop is slow",
  text: "Pages of the shop take up to 10 seconds. We are looking into it.",
  lines: ["web-shop"],
  state: "open",
  starts_at: "2026-12-07T10:00:00.000Z",
  ends_at: null,
  created_by: "ann",
  created_at: "2026-12-07T10:00:00.000Z",
  updates: [],
}
const { kind, lines, page, text, title } = ANNOUNCEMENT
const UPDATE = { at: "2026-12-07T10:20:00.000Z", text: "A database is overloaded.", by: "ann" }
const TIMES = { starts_at: "2026-12-12T17:00:00.000Z", ends_at: "2026-12-12T19:00:00.000Z" }

const operations: Operations = {
  listAnnouncements: {
    summary: "List announcements",
    description: "Lists announcements of one page or of all, the newest first.",
    parameters: { page, state: "open" },
    success: example("usual", "One announcement", {
      items: [ANNOUNCEMENT],
      next_cursor: null,
      prev_cursor: null,
    }),
  },
  createAnnouncement: {
    summary: "Announce on a public page",
    description:
      "Publishes a message on a page of the policy and in its feed. Operators who may respond get 403 unless the page has announce: respond. Answers 400 with the names that exist for a page or a line that does not, and 409 if 100 announcements are scheduled or open.",
    request: {
      now: ["An incident, which lasts until it is ended", { page, kind, title, text, lines }],
      planned: [
        "A maintenance",
        { page, kind: "maintenance", title: "New disks", text: "The shop is read-only.", lines, ...TIMES },
      ],
    },
    success: { created: ["Created", ANNOUNCEMENT] },
  },
  updateAnnouncement: {
    summary: "Add a text to an announcement",
    description:
      "Adds a text, which readers see with its time. Nothing that was published is ever edited. Answers 409 if the announcement has ended, or would have more than 100 updates or 40,000 characters with them.",
    parameters: { id: ANNOUNCEMENT.id },
    request: { usual: ["What was found", { text: UPDATE.text }] },
    success: { usual: ["The announcement with the text", { ...ANNOUNCEMENT, updates: [UPDATE] }] },
  },
  endAnnouncement: {
    summary: "End an announcement now",
    description: "Ends an announcement, or calls it off before it begins. The count is 0 if it had ended.",
    parameters: { id: ANNOUNCEMENT.id },
    ...counted("The announcement has ended", 1),
  },
}

export const publicPages = {
  tags: [["Announcements", "Messages to the readers of public pages.", operations]],
  beside: { routes: PublicPageRoutes.routes, layer: PublicPageRoutes.layer },
  useCases: useCasesOf("announcements", Announcements, (announcements) => ({
    listAnnouncements: ({ query }) => announcements.announcements(query),
    createAnnouncement: ({ payload }) => announcements.announce(payload),
    updateAnnouncement: ({ params, payload }) => announcements.updateAnnouncement(params.id, payload.text),
    endAnnouncement: ({ params }) => announcements.endAnnouncement(params.id),
  })),
} satisfies HttpPart
