import type { CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { CheckStatus } from "@tocsin/contract/Status"
import type { Confirmation } from "@tocsin/contract/confirmResult"
import { type StoredProbe, USUAL_CONFIRM } from "@tocsin/contract/Watches"
import { instant, integer, type KeyedShape, long, object, orUndefined, text } from "./TableShape.ts"

/** A watch as an operator or the policy defines it. */
export interface WatchTerms {
  /** Names its check, too. */
  readonly name: CheckId
  readonly every_millis: number
  readonly confirm: Confirmation
  readonly probe: StoredProbe
}

/** One watch as stored, with the state of its probes (docs/rules.md#watches). */
export interface WatchRecord extends WatchTerms {
  readonly origin: "operator" | "policy"
  /** When its pause ends; `FOREVER` for one that lasts until it is ended. */
  readonly paused_until: Instant.Instant | undefined
  readonly created_at: Instant.Instant
  readonly created_by: string
  /** When it is due. Its next result must answer this moment, so two replicas never count the same probe. */
  readonly next_probe_at: Instant.Instant
  readonly probed_at: Instant.Instant | undefined
  /** The status and the output of the latest probe, whether it counts or not. */
  readonly status: CheckStatus | undefined
  readonly output: string | undefined
  /** The status that counts, and since when. */
  readonly counted: CheckStatus | undefined
  readonly counted_at: Instant.Instant | undefined
  /** How many results in a row contradict it. */
  readonly against: number
}

/** The end of a pause that lasts until it is ended. */
export const FOREVER = Instant.LATEST

/** Whether a watch is paused. */
export const isPaused = ({ paused_until }: WatchRecord, now: Instant.Instant): boolean =>
  paused_until !== undefined && paused_until > now

/** Its table. The lock of the watches' agent guards its rows, except that the first one creates both. */
export const watch: KeyedShape<WatchRecord, readonly ["name"], readonly []> = {
  name: "watch",
  key: ["name"],
  locks: "rows",
  group: [],
  columns: {
    name: text,
    every_millis: long,
    confirm: { ...object, whenDamaged: USUAL_CONFIRM },
    probe: object,
    origin: text,
    paused_until: orUndefined(instant),
    created_at: instant,
    created_by: text,
    next_probe_at: instant,
    probed_at: orUndefined(instant),
    status: orUndefined(text),
    output: orUndefined(text),
    counted: orUndefined(text),
    counted_at: orUndefined(instant),
    against: integer,
  },
}
