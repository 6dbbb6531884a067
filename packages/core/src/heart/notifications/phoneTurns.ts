import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { LOOK_EVERY } from "../replicas/ownerOf.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { KeyedTable } from "../../kernel/unitOfWork/KeyedTables.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { AttemptResult } from "./recordResults.ts"

/** From the beginning of a call that may have rung to the next one: one listens, and presses a key. */
const BETWEEN_CALLS = Duration.seconds(90)

/**
 * Until when a phone stays free after a call; nothing if it is over. A call that began a little ahead is another
 * transaction's, which began later and was first; one far ahead is of before a clock was set back.
 */
const restsUntil = (
  began_at: Instant.Instant | undefined,
  now: Instant.Instant,
): Instant.Instant | undefined => {
  if (began_at === undefined || began_at > Instant.plus(now, BETWEEN_CALLS)) return undefined
  const until = Instant.plus(began_at, BETWEEN_CALLS)
  return now < until ? until : undefined
}

/** The calls of all receivers. Transactions that ask for them wait for one another from here on. */
function* loadCalls(unit: UnitOfWork) {
  yield* load(unit, { groups: { phone_call: ["all"] } })
  return unit.of("phone_call")
}

const lastCall = (calls: KeyedTable<"phone_call">, receiver: NotifierName): Instant.Instant | undefined =>
  calls.group("all").find((call) => call.receiver === receiver)?.began_at

/** Finds whether a phone rests, and begins a call. */
export function* findPhone(unit: UnitOfWork, receiver: NotifierName, now: Instant.Instant) {
  const calls = yield* loadCalls(unit)
  return {
    isResting: restsUntil(lastCall(calls, receiver), now) !== undefined,
    begin: () => calls.put({ receiver, began_at: now }),
  }
}

/** Takes back the beginning of a call that did not ring. */
export const takeBackCall = commandOf(function* (
  unit,
  receiver: NotifierName,
  began_at: Instant.Instant,
): Decision<void> {
  const calls = yield* loadCalls(unit)
  if (lastCall(calls, receiver) === began_at) calls.delete(receiver)
})

/** Whether a phone may have rung by an attempt: it was taken, or was not answered. */
export const mayHaveRung = (result: AttemptResult): boolean =>
  result.outcome !== "refused" &&
  result.outcome !== "unsent" &&
  !(result.outcome === "deferred" && result.isAnswered === true)

/** The longest that a changed policy waits for a phone that rests. */
const LONGEST_REST = Duration.seconds(15)

/**
 * Whether this process may claim for a phone now. If it may not, waits: for the owner to change, or until the phone has
 * rested since its last call.
 */
export const takeTurn = Effect.fnUntraced(function* (
  receiver: NotifierName,
  isOwner: Effect.Effect<boolean, StorageError>,
) {
  if (!(yield* isOwner)) return yield* Effect.as(idlePause(LOOK_EVERY), false)
  const storage = yield* Storage
  const [last] = yield* storage.rows("phone_call", [receiver])
  const now = yield* Instant.now
  const until = restsUntil(last?.began_at, now)
  if (until === undefined) return true
  const rest = Duration.micros(until - now)
  return yield* Effect.as(Effect.sleep(Duration.min(rest, LONGEST_REST)), false)
})
