import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import * as Instant from "@tocsin/contract/formats/Instant"
import { claimAlerts, recordAlertResult } from "@tocsin/core/heart/notifications/alertDecisions"
import { type AttemptResult, recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import { discardUnclaimed } from "@tocsin/core/heart/notifications/discardUnclaimed"
import { replay } from "@tocsin/core/heart/notifications/release"
import { Duration, Effect } from "effect"
import { expireAll, purge } from "../expireAll.ts"
import type { ModelAction } from "./ModelAction.ts"
import { outboxIdOf } from "../records.ts"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { transact } from "../transact.ts"
import { claimItems } from "../claimItems.ts"

type ActionOf<Act extends ModelAction["act"]> = Extract<ModelAction, { readonly act: Act }>

/** More than any scenario makes. */
export const ALL = 10_000

// By the storage's clock, which a scenario does not move: a lease expires immediately or never.
const leaseOf = ({ isLost }: { readonly isLost: boolean }) => (isLost ? Duration.zero : Duration.days(36_500))

/** No chance: the same delays for every storage. */
const RANDOM = 0.5

/** Claims due items, which are then `sending`. */
export const claim = ({ commits }: Replica, action: ActionOf<"claim">) =>
  claimItems(commits, {
    receivers: action.receivers,
    limit: ALL,
    lease: leaseOf(action),
    random: RANDOM,
  })

const makeResult = (outcome: AttemptResult["outcome"]): AttemptResult =>
  outcome === "deferred" || outcome === "refused"
    ? { outcome, error: "the receiver answered 503" }
    : { outcome }

/** Claims due items and ends each attempt in the same way. */
export const deliver = Effect.fnUntraced(function* (replica: Replica, action: ActionOf<"deliver">) {
  const claimed = yield* claim(replica, { act: "claim", receivers: ["debug", "alert_router"], isLost: false })
  return yield* Effect.forEach(claimed, (item) =>
    transact(
      replica.storage,
      recordResults([{ claim: item.claim, result: makeResult(action.outcome), random: RANDOM }]),
    ),
  )
})

/** Ends the attempt at one of the items that are `sending`. */
export const settle = Effect.fnUntraced(function* (replica: Replica, action: ActionOf<"settle">) {
  const sending = yield* rowsOf(replica, "outbox", { state: "sending" })
  const item = sending[action.nth % sending.length]
  if (item === undefined) return "nothing is being sent"
  return yield* transact(
    replica.storage,
    recordResults([{ claim: item, result: makeResult(action.outcome), random: RANDOM }]),
  )
})

/** Repeats alerts, and settles some of them. */
export const resend = Effect.fnUntraced(function* ({ storage }: Replica, action: ActionOf<"resend">) {
  const claimed = yield* transact(
    storage,
    claimAlerts({ receiver: "alert_router", limit: ALL, lease: leaseOf(action) }),
  )
  for (const one of claimed.slice(0, action.settled)) yield* transact(storage, recordAlertResult(one))
  return claimed
})

/** Replays one of the dead letters, or an unknown item if there is none. */
export const replayNth = Effect.fnUntraced(function* (
  replica: Replica,
  action: ActionOf<"replay">,
  by: Signature,
) {
  const items = yield* rowsOf(replica, "outbox")
  const dead = items.filter((item) => item.state === "failed")
  const item = dead[action.nth % dead.length] ?? items[action.nth % items.length]
  return yield* transact(replica.storage, replay(item?.id ?? outboxIdOf("nobody's"), by))
})

/** Discards items that have waited for a day. */
export const discard = ({ storage }: Replica, { notifier }: ActionOf<"discardUnclaimed">) =>
  transact(
    storage,
    discardUnclaimed(
      NotifierKind.literals.filter((kind) => kind !== notifier),
      ALL,
    ),
  )

/** Expires rows, first those of deleted agents, which other rules may or may not count. */
export const expire = Effect.fnUntraced(function* ({ storage }: Replica, action: ActionOf<"expire">) {
  const removed = [yield* purge(storage, ALL)]
  const now = yield* Instant.now
  for (const rule of ["history", "outbox", "incidents"] as const) {
    const seconds = action[rule]
    if (seconds === undefined) continue
    const before = Instant.minus(now, Duration.seconds(seconds))
    removed.push(yield* expireAll(storage, { rule, before, limit: action.limit }))
    // Storages may count the subjects of audit rows.
    if (rule === "history") yield* expireAll(storage, { rule: "audit", before, limit: action.limit })
  }
  return removed
})
