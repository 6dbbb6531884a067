import { uuidOf } from "../formats/Identifiers.ts"
import { Schema } from "effect"
import { closedStruct, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { MOST_LINES, PageName } from "./PublicPages.ts"
import { paging } from "../v1/Parameters.ts"
import { isPlainLines, isPlainText } from "../formats/Text.ts"

/** ID of an announcement: UUIDv7, lower case (docs/rules.md#announcements). */
export const AnnouncementId = uuidOf("AnnouncementId", "an announcement").pipe(Schema.brand("AnnouncementId"))
export type AnnouncementId = typeof AnnouncementId.Type

export const AnnouncementKind = Schema.Literals(["incident", "maintenance", "notice"]).annotate(
  named("AnnouncementKind", "maintenance: the lines that it names are in maintenance while it is open."),
)
export type AnnouncementKind = typeof AnnouncementKind.Type

export const AnnouncementStateName = Schema.Literals(["scheduled", "open", "ended"]).annotate(
  named("AnnouncementState", "scheduled: it has not begun."),
)

const Text = Schema.String.check(isPlainLines({ min: 1, max: 4_000 })).annotateKey({
  description: "Plain text, which stays as it is.",
})
const LINES_RULE = { expected: `a list of at most ${MOST_LINES} different lines` }

export const AnnouncementRequest = closedStruct({
  page: PageName.annotateKey({ description: "The name of the page." }),
  kind: AnnouncementKind,
  title: Schema.String.check(isPlainText({ min: 1, max: 200 })),
  text: Text,
  lines: Schema.optionalKey(
    Schema.Array(Schema.String).check(
      Schema.isMaxLength(MOST_LINES, LINES_RULE),
      Schema.isUnique(LINES_RULE),
    ),
  ).annotateKey({ description: "The lines that it names, by their id; none unless given." }),
  starts_at: Schema.optionalKey(timestamp("When it begins; now unless given.")),
  ends_at: Schema.optionalKey(timestamp("When it ends; without it, it lasts until an operator ends it.")),
}).annotate(named("AnnouncementRequest", "A new announcement."))
export type AnnouncementRequest = typeof AnnouncementRequest.Type

export const AnnouncementUpdateRequest = closedStruct({ text: Text }).annotate(
  named("AnnouncementUpdateRequest", "A text to add to an announcement."),
)

export const AnnouncementPath = Schema.Struct({
  id: AnnouncementId.annotateKey({ description: "The id of an announcement." }),
})

export const Announcement = Schema.Struct({
  id: AnnouncementId,
  page: Schema.String.annotateKey({ description: "The policy may no longer have it." }),
  kind: AnnouncementKind,
  title: Schema.String,
  text: Schema.String,
  lines: Schema.Array(Schema.String),
  state: AnnouncementStateName,
  starts_at: InstantFromString,
  ends_at: Schema.NullOr(InstantFromString).annotateKey({
    description: "The first moment at which it is over; null until it has one.",
  }),
  created_by: Schema.String,
  created_at: InstantFromString,
  updates: Schema.Array(
    Schema.Struct({ at: InstantFromString, text: Schema.String, by: Schema.String }),
  ).annotateKey({ description: "Texts that were added, the oldest first." }),
}).annotate(named("Announcement", "A message to the readers of a public page."))
export type Announcement = typeof Announcement.Type

/** Its columns as CSV: see `csvText`. */
export const announcementColumns =
  "id page state kind title text lines starts_at ends_at updates created_by created_at"

export const AnnouncementListParameters = Schema.Struct({
  page: optional(PageName, "Only announcements of this page."),
  state: optional(AnnouncementStateName, "Only announcements in this state."),
  ...paging,
})
