import type { CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { CheckStatus } from "@tocsin/contract/Status"
import type { Confirmation } from "@tocsin/contract/confirmResult"
import { type StoredProbe, USUAL_CONFIRM } from "@tocsin/contract/Watches"
import { instant, integer, keyedTable, long, object, orUndefined, type RecordOf, text } from "./TableShape.ts"

/** Header fields of a probe, encrypted (docs/rules.md#stored-secrets). */
export interface SealedHeaders {
  readonly ciphertext: string
  /** Identifies the key that opens it, without revealing that. */
  readonly key_id: string
}

/**
 * One watch as stored, with the state of its probes (docs/rules.md#watches). The lock of the watches' agent guards
 * the rows, except that the first one creates both.
 */
export const watch = keyedTable({
  name: "watch",
  key: ["name"],
  locks: "rows",
  group: [],
  columns: {
    /** Names its check, too. */
    name: text<CheckId>(),
    every_millis: long,
    confirm: object<Confirmation>(USUAL_CONFIRM),
    probe: object<StoredProbe>(),
    /** The header fields of its probe; a probe of an earlier version has them in clear. */
    headers: orUndefined(object<SealedHeaders>()),
    origin: text<"operator" | "policy">(),
    /** When its pause ends; `FOREVER` for one that lasts until it is ended. */
    paused_until: orUndefined(instant),
    created_at: instant,
    created_by: text(),
    /** When it is due. Its next result must answer this moment, so two replicas never count the same probe. */
    next_probe_at: instant,
    probed_at: orUndefined(instant),
    /** The status and the output of the latest probe, whether it counts or not. */
    status: orUndefined(text<CheckStatus>()),
    output: orUndefined(text()),
    /** The status that counts, and since when. */
    counted: orUndefined(text<CheckStatus>()),
    counted_at: orUndefined(instant),
    /** How many results in a row contradict it. */
    against: integer,
  },
})
export type WatchRecord = RecordOf<typeof watch>

/** A watch as an operator or the policy defines it. */
export type WatchTerms = Pick<WatchRecord, "name" | "every_millis" | "confirm" | "probe" | "headers">

export const FOREVER = Instant.LATEST

export const isPaused = ({ paused_until }: WatchRecord, now: Instant.Instant): boolean =>
  paused_until !== undefined && paused_until > now
