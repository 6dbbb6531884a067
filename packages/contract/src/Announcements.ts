import { Schema } from "effect"
import { named } from "./Fields.ts"

export const AnnouncementKind = Schema.Literals(["incident", "maintenance", "notice"]).annotate(
  named("AnnouncementKind", "maintenance: the lines that it names are in maintenance while it is open."),
)
export type AnnouncementKind = typeof AnnouncementKind.Type
