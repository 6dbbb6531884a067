import { Context } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import {
  hasKeyExpired,
  type IdempotencyKeyRecord,
  IdempotencyKeyTransitions,
} from "../../model/IdempotencyKeyRecord.ts"
import {
  type Command,
  commandOf,
  type Decision,
  likewise,
  load,
  type LoneDecision,
} from "../../unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../unitOfWork/UnitOfWork.ts"

export interface Act extends Pick<IdempotencyKeyRecord, "id" | "request_hash"> {
  /** Whether a transaction of this request has stored the key. */
  isStored: boolean
}

/** The act of the present request, if that has an idempotency key. */
export const CurrentAct = Context.Reference<Act | undefined>("@tocsin/core/engine/commits/CurrentAct", {
  defaultValue: () => undefined,
})

/** The defect of a transaction whose key another request has stored: nothing of it is kept. */
export class ActTaken {
  readonly _tag = "ActTaken"
}

function* keyOf(
  unit: UnitOfWork,
  { id }: Pick<Act, "id">,
  now: Instant,
): Decision<IdempotencyKeyRecord | undefined> {
  yield* load(unit, { groups: { idempotency_key: [id] } })
  const [row] = unit.of("idempotency_key").group(id)
  return row === undefined || hasKeyExpired(row, now) ? undefined : row
}

export const findKey = commandOf(function* (unit, act: Pick<Act, "id">) {
  return yield* keyOf(unit, act, unit.now)
})

type Once<A> =
  | { readonly isTaken: true }
  | { readonly isTaken: false; readonly reply: A; readonly isStored: boolean }

/** The same command, which stores the key in its transaction if it changes a row. */
export const once = <A>(command: Command<A>, act: Act): Command<Once<A>> =>
  likewise(command, (unit, now) => decideOnce(unit, now, command, act))

function* decideOnce<A>(
  unit: UnitOfWork,
  now: Instant,
  command: Command<A>,
  { id, request_hash }: Act,
): LoneDecision<Once<A>> {
  if ((yield* keyOf(unit, { id }, now)) !== undefined) return { isTaken: true }
  const reply = yield* command(unit, now)
  const isStored = unit.commandChanges().isWrite
  if (isStored) {
    move(IdempotencyKeyTransitions, "absent", "changed")
    unit.of("idempotency_key").put({ id, request_hash, acted_at: now, answer: undefined })
  }
  return { isTaken: false, reply, isStored }
}

/** Stores the answer of an act, unless another request has answered under its key. */
export const storeAnswer = commandOf(function* (
  unit,
  { id, isStored, request_hash }: Act,
  answer: string,
): Decision<void> {
  const row = yield* keyOf(unit, { id }, unit.now)
  if ((row !== undefined) !== isStored || row?.answer !== undefined) return
  move(IdempotencyKeyTransitions, isStored ? "under_way" : "absent", "answered")
  unit.of("idempotency_key").put({ id, request_hash, acted_at: row?.acted_at ?? unit.now, answer })
})
