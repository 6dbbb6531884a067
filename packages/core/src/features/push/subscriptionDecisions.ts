import { MOST_SUBSCRIPTIONS, type SubscriptionId } from "@tocsin/contract/push/Push"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import {
  isPerson,
  OUTLIVES_SIGN_IN,
  type PushKeyRecord,
  type SubscriptionRecord,
} from "../../heart/model/SubscriptionRecord.ts"
import { dropSubscriptions } from "../../heart/operators/endSubscriptions.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"

export type GivenSubscription = Pick<
  SubscriptionRecord,
  "ciphertext" | "id" | "key_id" | "name" | "operator" | "service" | "session"
>

type Created =
  | { readonly outcome: "created" | "kept"; readonly row: SubscriptionRecord }
  | { readonly outcome: "too_many" | "another_key" }

/**
 * Stores a browser for its operator, unless that has too many, or the key by which it subscribed was replaced since. One
 * of another operator leaves that operator.
 */
export const storeSubscription = commandOf(function* (
  unit,
  given: GivenSubscription,
  public_key: string,
  by: Signature,
): Decision<Created> {
  const { id, name, operator, service, session } = given
  // Before the tables that other transactions lock after it.
  const signedIn =
    isPerson(operator) && session !== undefined ? yield* loadRow(unit, "session", session) : undefined
  if ((yield* loadRow(unit, "push_key", "vapid"))?.public_key !== public_key)
    return { outcome: "another_key" }
  const former = yield* loadRow(unit, "push_subscription", id)
  yield* load(unit, { groups: { push_subscription: [operator] } })
  const rows = unit.of("push_subscription")
  if (former?.operator === operator) {
    const row = { ...former, ...given, last_error: undefined }
    rows.put(row)
    return { outcome: "kept", row }
  }
  if (rows.group(operator).length >= MOST_SUBSCRIPTIONS) return { outcome: "too_many" }
  if (former !== undefined) dropSubscriptions(unit, [former], by)
  const row: SubscriptionRecord = {
    ...given,
    created_at: unit.now,
    expires_at: isPerson(operator)
      ? Instant.plus(signedIn?.created_at ?? unit.now, OUTLIVES_SIGN_IN)
      : undefined,
    taken_at: undefined,
    tested_at: undefined,
    shown_at: undefined,
    last_error: undefined,
  }
  rows.put(row)
  recordAudit(unit, by, "subscription.created", [id], { operator, name, service })
  return { outcome: "created", row }
})

/** Removes one browser, of this operator if one is given; returns how many. */
export const removeSubscription = commandOf(function* (
  unit,
  id: SubscriptionId,
  of: string | undefined,
  by: Signature,
): Decision<number> {
  const row = yield* loadRow(unit, "push_subscription", id)
  if (row === undefined || (of !== undefined && row.operator !== of)) return 0
  dropSubscriptions(unit, [row], by)
  return 1
})

/** Stores the first key, or returns the one that another process stored meanwhile. */
export const establishKey = commandOf(function* (unit, key: Omit<PushKeyRecord, "created_at">) {
  const former = yield* loadRow(unit, "push_key", key.name)
  if (former !== undefined) return former
  const row = { ...key, created_at: unit.now }
  unit.of("push_key").put(row)
  return row
})

/** Replaces the key, within a transaction that removes some of the browsers that are bound to it. */
export const replaceKey = commandOf(function* (
  unit,
  key: Omit<PushKeyRecord, "created_at">,
  operators: ReadonlyArray<string>,
  by: Signature,
) {
  yield* load(unit, { rows: { push_key: [key.name] }, groups: { push_subscription: operators } })
  const bound = operators.flatMap((operator) => unit.of("push_subscription").group(operator))
  dropSubscriptions(unit, bound, by)
  unit.of("push_key").put({ ...key, created_at: unit.now })
  recordAudit(unit, by, "push_key.replaced", [key.name], { removed: bound.length })
})

/** The outcome of a message to one browser. */
export interface Told {
  readonly id: SubscriptionId
  readonly outcome: "taken" | "failed" | "gone"
  readonly error: string | undefined
}

/** Records what became of a message to browsers: those that their push services know no more leave. */
export const recordTold = commandOf(function* (
  unit,
  told: ReadonlyArray<Told>,
  by: Signature,
): Decision<void> {
  yield* load(unit, { rows: { push_subscription: told.map(({ id }) => id) } })
  const rows = unit.of("push_subscription")
  for (const { error, id, outcome } of told) {
    const row = rows.get(id)
    if (row === undefined) continue
    if (outcome === "gone") dropSubscriptions(unit, [row], by)
    else if (outcome === "failed") rows.put({ ...row, last_error: error })
    else rows.put({ ...row, taken_at: unit.now, last_error: undefined })
  }
})

/** Records that a test goes to browsers, before it does: they may show it before their push services answer. */
export const recordTested = commandOf(function* (unit, ids: ReadonlyArray<SubscriptionId>): Decision<void> {
  yield* load(unit, { rows: { push_subscription: ids } })
  const rows = unit.of("push_subscription")
  for (const id of ids) {
    const row = rows.get(id)
    if (row !== undefined) rows.put({ ...row, tested_at: unit.now })
  }
})

const SHOWN_EVERY = Duration.minutes(1)

/** Whether a browser that shows a notification at this moment is to be recorded: once a minute, and after a test. */
export const isShownNotable = ({ shown_at, tested_at }: SubscriptionRecord, now: Instant.Instant): boolean =>
  shown_at === undefined ||
  // A clock that was set back.
  shown_at > now ||
  (tested_at !== undefined && tested_at > shown_at) ||
  shown_at <= Instant.minus(now, SHOWN_EVERY)

/** Records that a browser has shown a notification. */
export const recordShown = commandOf(function* (unit, id: SubscriptionId) {
  const row = yield* loadRow(unit, "push_subscription", id)
  if (row !== undefined && isShownNotable(row, unit.now))
    unit.of("push_subscription").put({ ...row, shown_at: unit.now })
})
