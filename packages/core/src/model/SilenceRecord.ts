import type { SilenceId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import type { Matchers } from "@tocsin/contract/Matcher"
import { array, instant, type KeyedShape, text } from "./TableShape.ts"
import { stateTable } from "@tocsin/contract/TransitionTable"

/** Holds the firings of the incidents that it covers, from its start until its end (docs/rules.md#silences). */
export interface SilenceRecord {
  readonly id: SilenceId
  readonly matchers: Matchers
  readonly starts_at: Instant.Instant
  /** The first moment at which it is over. */
  readonly ends_at: Instant.Instant
  readonly comment: string
  readonly created_by: string
  readonly created_at: Instant.Instant
}

/** Whether a silence is still to come, in force, or over. Computed, never stored. */
export type SilenceState = Exclude<(typeof SilenceTransitions)[number]["to"], "absent">

export const silenceState = (
  { ends_at, starts_at }: Pick<SilenceRecord, "ends_at" | "starts_at">,
  now: Instant.Instant,
): SilenceState => (ends_at <= now ? "expired" : starts_at <= now ? "active" : "scheduled")

/** Its table. */
export const silence: KeyedShape<SilenceRecord, readonly ["id"]> = {
  name: "silence",
  key: ["id"],
  locks: "rows",
  columns: {
    id: text,
    matchers: array,
    starts_at: instant,
    ends_at: instant,
    comment: text,
    created_by: text,
    created_at: instant,
  },
}

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
