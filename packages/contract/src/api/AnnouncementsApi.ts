import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as announcements from "../Announcements.ts"
import { AnnouncementListParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

/**
 * Announcements of public pages (docs/rules.md#announcements). The use cases refuse the role `respond` on pages without
 * `announce: respond`.
 */
export class AnnouncementsApi extends HttpApiGroup.make("announcements")
  .add(
    role.read.get("listAnnouncements", "/announcements", {
      query: AnnouncementListParameters,
      success: pageOf(announcements.Announcement, "AnnouncementPage"),
    }),
    role.respond.post("endAnnouncement", "/announcements/:id/end", {
      params: announcements.AnnouncementPath,
      success: ActionCountResponse,
      error: NotFound.wire,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.respond.post("createAnnouncement", "/announcements", {
      payload: announcements.AnnouncementRequest,
      success: announcements.Announcement.pipe(HttpApiSchema.status(201)),
      error: [Conflict.wire, PayloadTooLarge.wire],
    }),
    role.respond.post("updateAnnouncement", "/announcements/:id/updates", {
      params: announcements.AnnouncementPath,
      payload: announcements.AnnouncementUpdateRequest,
      success: announcements.Announcement.pipe(HttpApiSchema.status(201)),
      error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
