import type { SilenceId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import type { Matchers } from "@tocsin/contract/Matcher"
import type { SilenceTransitions } from "./SilenceTransitions.ts"
import { array, instant, text } from "./columns.ts"
import type { KeyedShape } from "./TableShape.ts"

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
