import type { Instant } from "@tocsin/contract/formats/Instant"
import { type AnnouncementRecord, announcementState } from "./AnnouncementRecord.ts"

/** The lines, by their LINE, that open announcements put in maintenance at a moment (docs/rules.md#announcements). */
export const announcedMaintenance = (
  announcements: ReadonlyArray<Pick<AnnouncementRecord, "ends_at" | "kind" | "lines" | "starts_at">>,
  at: Instant,
): ReadonlySet<string> =>
  new Set(
    announcements
      .filter((one) => one.kind === "maintenance" && announcementState(one, at) === "open")
      .flatMap(({ lines }) => lines),
  )
