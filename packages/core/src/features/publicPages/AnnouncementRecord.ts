import { NEVER, planned, type PlannedFilter, type SortColumn } from "../../kernel/model/ListPlan.ts"
import type {
  AnnouncementId,
  Announcement,
  AnnouncementKind,
  AnnouncementStateName,
} from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import { spanState } from "../../kernel/model/plannedSpan.ts"
import {
  array,
  instant,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

/** A text that an operator added later. */
export interface AnnouncementUpdate {
  /** In microseconds since 1970. */
  readonly at: number
  readonly text: string
  readonly by: string
}

export interface AnnouncementFilter extends PlannedFilter<typeof AnnouncementStateName.Type> {
  readonly page?: string | undefined
}

/** Databases generate it. */
const endsOrder: SortColumn<{ readonly ends_at: Instant.Instant | undefined }> = {
  name: "ends_order",
  type: "bigint",
  of: ({ ends_at }) => ends_at ?? NEVER,
}

/** A message to the readers of a public page (docs/rules.md#announcements). */
export const announcement = keyedTable({
  name: "announcement",
  key: ["id"],
  locks: "rows",
  expiry: {
    rule: "announcements",
    from: "ends_at",
    after: "incidents",
    subject: "an announcement",
    expires: "ended before the bound of incidents",
  },
  list: {
    name: "announcements",
    orders: { created_at: ["created_at", "id"], ends_at: [endsOrder, "id"] },
    ...planned<AnnouncementFilter>("announcement_by_end_order", "ended", "r.ends_order"),
  },
  unended: "ends_order",
  columns: {
    id: text<AnnouncementId>(),
    /** The policy may no longer have it. */
    page: text(),
    kind: text<AnnouncementKind>(),
    title: text(),
    text: text(),
    /** The lines that it names, by their LINE. */
    lines: array<string>(),
    starts_at: instant,
    /** The first moment at which it is over; absent until an operator ends it. */
    ends_at: orUndefined(instant),
    /** The oldest first. */
    updates: array<AnnouncementUpdate>(),
    created_by: text(),
    created_at: instant,
  },
})
export type AnnouncementRecord = RecordOf<typeof announcement>

/** Whether an announcement is still to come, open, or over. Computed, never stored. */
export type AnnouncementState = Exclude<(typeof AnnouncementTransitions)[number]["to"], "absent">

export const announcementState = (
  times: Pick<AnnouncementRecord, "ends_at" | "starts_at">,
  now: Instant.Instant,
): AnnouncementState => spanState(times, "open", "ended", now)

/** Transitions of an announcement (docs/rules.md#announcements). Its times are stored, its state is computed. */
export const AnnouncementTransitions = stateTable({
  absent: {
    "created -> open": "an operator creates it, to start now | its page and its feed have it",
    "scheduled -> scheduled": "an operator creates it, to start later | as above",
  },
  scheduled: {
    "updated -> scheduled": "an operator adds a text | as above",
    "started -> open": "its start has come | lines that a maintenance names are in maintenance",
    "ended_by_hand -> ended": "an operator ends it",
  },
  open: {
    "updated -> open": "an operator adds a text | its page and its feed have it",
    "ended_by_hand -> ended": "an operator ends it | lines are as their checks say",
    "ended -> ended": "its end has come | as above; its page has it for another 14 days",
  },
  ended: {
    "removed -> absent": "retention removes it",
  },
})

export const toAnnouncement = (record: AnnouncementRecord, now: Instant.Instant): Announcement => ({
  ...record,
  state: announcementState(record, now),
  ends_at: record.ends_at ?? null,
  updates: record.updates.map((update) => ({ ...update, at: Instant.fromMicros(BigInt(update.at)) })),
})
