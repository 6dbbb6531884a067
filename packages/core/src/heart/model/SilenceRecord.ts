import { planned, type PlannedFilter } from "../../kernel/model/ListPlan.ts"
import type { Silence, SilenceStateName, SilenceId } from "@tocsin/contract/silences/Silences"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { Matchers } from "@tocsin/contract/labels/Matcher"
import { spanState } from "../../kernel/model/plannedSpan.ts"
import { array, instant, keyedTable, type RecordOf, text } from "../../kernel/model/TableShape.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"

/** Holds the firings of the incidents that it covers, from its start until its end (docs/rules.md#silences). */
export const silence = keyedTable({
  name: "silence",
  key: ["id"],
  locks: "rows",
  expiry: {
    rule: "silences",
    from: "ends_at",
    after: "incidents",
    subject: "a silence",
    expires: "ended before the bound of incidents",
  },
  list: {
    name: "silences",
    orders: { created_at: ["created_at", "id"] },
    ...planned<PlannedFilter<typeof SilenceStateName.Type>>("silence_by_end", "expired"),
  },
  columns: {
    id: text<SilenceId>(),
    matchers: array<Matchers[number]>(),
    starts_at: instant,
    /** The first moment at which it is over. */
    ends_at: instant,
    comment: text(),
    created_by: text(),
    created_at: instant,
  },
})
export type SilenceRecord = RecordOf<typeof silence>

/** Whether a silence is still to come, in force, or over. Computed, never stored. */
export type SilenceState = Exclude<(typeof SilenceTransitions)[number]["to"], "absent">

export const silenceState = (
  times: Pick<SilenceRecord, "ends_at" | "starts_at">,
  now: Instant.Instant,
): SilenceState => spanState(times, "active", "expired", now)

/** Transitions of a silence (docs/rules.md#silences). Its times are stored, its state is computed. */
export const SilenceTransitions = stateTable({
  absent: {
    "created -> active":
      "an operator creates it, to start now | firings not yet attempted are held while it covers their incidents",
    "scheduled -> scheduled": "an operator creates it, to start later",
  },
  scheduled: {
    "started -> active":
      "its start has come | firings not yet attempted are held while it covers their incidents",
    "edited -> scheduled":
      "an operator sets another end, after its start and in the future, or another comment",
    "expired_by_hand -> expired": "an operator deletes it",
  },
  active: {
    "edited -> active": "as above | its holds end with it",
    "expired_by_hand -> expired": "as above | its holds end",
    "ended -> expired": "its end has come | its holds end; two minutes after an outage in which it ended",
  },
  expired: {
    "removed -> absent": "retention removes it",
  },
})

export const toSilence = (record: SilenceRecord, now: Instant.Instant): Silence => ({
  ...record,
  state: silenceState(record, now),
})
