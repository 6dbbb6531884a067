import { HttpApiSchema } from "effect/http-api"
import * as announcements from "./Announcements.ts"
import { ActionCountResponse, pageOf } from "../v1/Responses.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

const success = announcements.Announcement.pipe(HttpApiSchema.status(201))

/**
 * Announcements of public pages (docs/rules.md#announcements). The use cases refuse the role `respond` on pages without
 * `announce: respond`.
 */
export class AnnouncementsApi extends operatorsGroup(
  "announcements",
  role.read.get("listAnnouncements", "/announcements", {
    query: announcements.AnnouncementListParameters,
    success: pageOf(announcements.Announcement, "AnnouncementPage"),
  }),
  role.respond.post("endAnnouncement", "/announcements/:id/end", {
    params: announcements.AnnouncementPath,
    success: ActionCountResponse,
    error: NotFound.wire,
  }),
  role.respond.post("createAnnouncement", "/announcements", {
    payload: announcements.AnnouncementRequest,
    success,
    error: Conflict.wire,
  }),
  role.respond.post("updateAnnouncement", "/announcements/:id/updates", {
    params: announcements.AnnouncementPath,
    payload: announcements.AnnouncementUpdateRequest,
    success,
    error: [NotFound.wire, Conflict.wire],
  }),
) {}
