import { Result } from "effect"
import { charactersOf } from "@tocsin/contract/publicPages/announcementTexts"
import type { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { type AnnouncementRecord, announcementState, AnnouncementTransitions } from "./AnnouncementRecord.ts"
import { type Refusal, refused, spanStart } from "../../kernel/model/plannedSpan.ts"
import {
  commandOf,
  type Decision,
  loadRow,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"

/** A page has them all, whatever else happened in its last 14 days. */
export const MAX_UNENDED_ANNOUNCEMENTS = 100

/** They are one row, which each reader of its page gets. */
export const MAX_UPDATES = 100

/** Of an announcement with its updates: a page and its feed are made again every 15 s. */
export const MAX_CHARACTERS = 40_000

interface NewAnnouncement extends Pick<
  AnnouncementRecord,
  "ends_at" | "id" | "kind" | "lines" | "page" | "text" | "title"
> {
  readonly starts_at: Instant.Instant | undefined
}

/** Stores an announcement, which begins no earlier than its transaction. */
export const createAnnouncement = loneCommandOf(function* (
  unit,
  { starts_at: asked, ...given }: NewAnnouncement,
  by: Signature,
): LoneDecision<Result.Result<AnnouncementRecord, Refusal>> {
  const { ends_at, id, kind, lines, page, text, title } = given
  const start = spanStart(asked, "starts_at", unit.now)
  if (Result.isFailure(start)) return refused("invalid", start.failure)
  const starts_at = start.success
  if (ends_at !== undefined && ends_at <= starts_at)
    return refused("invalid", "ends_at must be in the future, and after starts_at; or leave it out")
  if ((yield* find("unended", "announcement")) >= MAX_UNENDED_ANNOUNCEMENTS)
    return refused(
      "too_many",
      `there are ${MAX_UNENDED_ANNOUNCEMENTS} announcements that have not ended; end some first`,
    )
  const created = { ...given, starts_at, updates: [], created_at: unit.now, created_by: by.actor }
  unit.of("announcement").put(created)
  recordAudit(unit, by, "announcement.created", [id], {
    page,
    kind,
    title,
    text,
    lines: lines.length === 0 ? undefined : lines.join(", "),
    starts_at: Instant.format(starts_at),
    ends_at: ends_at && Instant.format(ends_at),
  })
  return Result.succeed(created)
})

/** Adds a text to an announcement that has not ended, and returns how it stands then. */
export const updateAnnouncement = commandOf(function* (
  unit,
  id: AnnouncementId,
  text: string,
  by: Signature,
): Decision<AnnouncementRecord | "ended" | "full" | "unknown"> {
  const announcement = yield* loadRow(unit, "announcement", id)
  if (announcement === undefined) return "unknown"
  const state = announcementState(announcement, unit.now)
  if (state === "ended") return "ended"
  const { updates } = announcement
  const updated = { ...announcement, updates: [...updates, { at: Number(unit.now), text, by: by.actor }] }
  if (updates.length >= MAX_UPDATES || charactersOf(updated) > MAX_CHARACTERS) return "full"
  move(AnnouncementTransitions, state, "updated")
  unit.of("announcement").put(updated)
  recordAudit(unit, by, "announcement.updated", [id], { text })
  return updated
})

/** Ends an announcement now, and keeps its row. Returns how many it ended. */
export const endAnnouncement = commandOf(function* (unit, id: AnnouncementId, by: Signature) {
  const announcement = yield* loadRow(unit, "announcement", id)
  if (announcement === undefined) return 0
  const state = announcementState(announcement, unit.now)
  if (state === "ended") return 0
  move(AnnouncementTransitions, state, "ended_by_hand")
  unit.of("announcement").put({ ...announcement, ends_at: unit.now })
  recordAudit(unit, by, "announcement.ended", [id], {})
  return 1
})
