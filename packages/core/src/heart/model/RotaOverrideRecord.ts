import type { OverrideId } from "@tocsin/contract/onCall/Rotas"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
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

/** Puts receivers on call in a rota from its start until its end (docs/rules.md#overrides). */
export const rota_override = keyedTable({
  name: "rota_override",
  key: ["id"],
  locks: "rows",
  expiry: {
    rule: "overrides",
    from: "ends_at",
    after: "incidents",
    subject: "an override of a rota",
    expires: "ended before the bound of incidents",
  },
  unended: "ends_at",
  columns: {
    id: text<OverrideId>(),
    rota: text<NotifierName>(),
    receivers: array<NotifierName>(),
    starts_at: instant,
    /** The first moment at which it is over. */
    ends_at: instant,
    note: orUndefined(text()),
    created_by: text(),
    created_at: instant,
  },
})
export type RotaOverrideRecord = RecordOf<typeof rota_override>

/** Whether an override is still to come, in force, or over. Computed, never stored. */
export type OverrideState = Exclude<(typeof OverrideTransitions)[number]["to"], "absent">

export const overrideState = (
  times: Pick<RotaOverrideRecord, "ends_at" | "starts_at">,
  now: Instant.Instant,
): OverrideState => spanState(times, "active", "ended", now)

/** Transitions of an override (docs/rules.md#overrides). Its times are stored, its state is computed. */
export const OverrideTransitions = stateTable({
  absent: {
    "created -> active":
      "an operator creates it, to start now | its receivers are on call, unless a later one covers the moment or the policy lacks one of them",
    "scheduled -> scheduled": "an operator creates it, to start later",
  },
  scheduled: {
    "started -> active": "its start has come | its receivers come on call, as above",
    "ended_by_hand -> ended": "an operator deletes it",
  },
  active: {
    "ended_by_hand -> ended": "an operator deletes it | who is on call without it comes on call",
    "ended -> ended": "its end has come | who is on call without it comes on call",
  },
  ended: {
    "removed -> absent": "retention removes it",
  },
})
