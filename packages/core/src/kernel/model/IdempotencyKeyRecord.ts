import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { instant, keyedTable, orUndefined, type RecordOf, text } from "./TableShape.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"

export const IDEMPOTENCY_KEY_TIME = Duration.hours(24)

/**
 * The key of an act that was carried out (docs/rules.md#acting-once). Each key is a group: equal requests wait for
 * one another, also before there is a row.
 */
export const idempotency_key = keyedTable({
  name: "idempotency_key",
  key: ["id"],
  group: ["id"],
  locks: "groups",
  expiry: {
    rule: "idempotency_keys",
    from: "acted_at",
    after: IDEMPOTENCY_KEY_TIME,
    subject: "an idempotency key",
    expires: "its act was more than 24 hours ago",
  },
  columns: {
    /** A hash of the operator and the key. */
    id: text(),
    /** A hash of the method, the path and the body. */
    request_hash: text(),
    acted_at: instant,
    /** Encrypted. Absent while the act is under way, and for good if its server ended before it answered. */
    answer: orUndefined(text()),
  },
})
export type IdempotencyKeyRecord = RecordOf<typeof idempotency_key>

/** Whether a key has expired; retention removes it later. One that another clock dated ahead has not. */
export const hasKeyExpired = ({ acted_at }: IdempotencyKeyRecord, now: Instant.Instant): boolean =>
  Instant.plus(acted_at, IDEMPOTENCY_KEY_TIME) <= now

/** Transitions of an idempotency key (docs/rules.md#acting-once). */
export const IdempotencyKeyTransitions = stateTable({
  absent: {
    "changed -> under_way": "the first transaction of the act that changes a row | the key is stored in it",
    "answered -> answered": "the act changed nothing | the answer is stored, unless the service failed",
  },
  under_way: {
    "answered -> answered": "the act has ended, and the service did not fail | the answer is stored",
    "expired -> absent": "24 h have passed, and the server ended before it answered",
  },
  answered: {
    "expired -> absent": "24 h have passed",
  },
})
