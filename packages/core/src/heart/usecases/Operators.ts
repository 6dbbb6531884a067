import { Context, Duration, Effect, Layer, Redacted, Struct } from "effect"
import { durationText } from "@tocsin/contract/formats/durationMillis"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import type {
  ChangeOperatorRequest,
  CreateOperatorRequest,
  Operator,
  OperatorName,
  RotateOperatorRequest,
} from "@tocsin/contract/operators/Operators"
import { type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import { CurrentOperator, type OperatorIdentity } from "../../kernel/ports/CurrentOperator.ts"
import * as decisions from "../operators/operatorDecisions.ts"
import { isValidToken, type OperatorRecord } from "../model/OperatorRecord.ts"
import { noSuch, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { tokenOf } from "../operators/tokens.ts"
import { operationPorts } from "./operationPorts.ts"

/** How long a former token stays valid after a rotation. */
export const USUAL_GRACE = Duration.hours(24)

const nameInUse = () =>
  new StateConflict({
    message: "an operator has this name; choose another name, or rotate that operator's token",
  })

const toOperator = (record: OperatorRecord): Operator => ({
  ...Struct.pick(record, ["name", "role", "created_at", "created_by"]),
  expires_at: record.expires_at ?? null,
  last_used_at: record.last_used_at ?? null,
})

/** An operator that has expired would have a token that never works. */
const refusePast = Effect.fnUntraced(function* (expires_at: Instant.Instant | null | undefined) {
  if (expires_at !== undefined && expires_at !== null && expires_at <= (yield* Instant.now)) {
    return yield* new ValidationError({
      message: "expires_at must be in the future; remove the operator to end its token now",
    })
  }
})

/** Named operators and their tokens (docs/rules.md#operators). */
export class Operators extends Context.Service<Operators>()("@tocsin/core/heart/usecases/Operators", {
  make: Effect.gen(function* () {
    const { commits, hashing, ids, rules, signed, storage } = yield* operationPorts
    const page = pageReader(storage, hashing.sha256)
    const acknowledges_for = durationText(Duration.toMillis(rules.acknowledgedFor))

    const newToken = Effect.sync(() => {
      const token = tokenOf("operator", ids.secret())
      return { token, token_hash: hashing.identify(token).key_hash }
    })

    return {
      /** The operator of a token, looked up in the storage each time; `undefined` if it is not valid. */
      authenticate: Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const { key_hash } = hashing.identify(token)
        const operator = yield* storage.operatorOfToken(key_hash)
        const now = yield* Instant.now
        if (operator === undefined || !isValidToken(operator, key_hash, now)) return undefined
        if (decisions.isUseNotable(operator, now)) {
          // A storage that refuses writes must not refuse reads.
          yield* Effect.ignore(commits.transact(decisions.noteUse(operator.name, key_hash)))
        }
        const { name, role, expires_at } = operator
        return { name, role, expires_at } satisfies OperatorIdentity
      }),
      me: Effect.map(CurrentOperator, ({ name, role, expires_at }) => ({
        name,
        role,
        ...(expires_at !== undefined && { expires_at }),
        acknowledges_for,
      })),
      list: (parameters: PageParameters) =>
        page({ list: "operators", filter: {}, sort: "name", direction: "asc" }, parameters, toOperator),
      /** Creates an operator, and returns its token this once. */
      create: Effect.fn("Operators.create")(function* ({ name, role, expires_at }: CreateOperatorRequest) {
        yield* refusePast(expires_at)
        const { token, token_hash } = yield* newToken
        const operator = yield* signed((by) =>
          decisions.createOperator({ name, role, expires_at, token_hash }, by),
        )
        if (operator === undefined) return yield* nameInUse()
        return { ...toOperator(operator), token: Redacted.value(token) }
      }),
      change: Effect.fn("Operators.change")(function* (
        name: OperatorName,
        { role, expires_at }: ChangeOperatorRequest,
      ) {
        yield* refusePast(expires_at)
        const changes = {
          ...(role !== undefined && { role }),
          ...(expires_at !== undefined && { expires_at: expires_at ?? undefined }),
        }
        const operator = yield* signed((by) => decisions.changeOperator(name, changes, by))
        return operator === undefined ? yield* noSuch("operator") : toOperator(operator)
      }),
      /** Replaces the token of an operator, and returns the new one this once. */
      rotate: Effect.fn("Operators.rotate")(function* (
        name: OperatorName,
        { grace = USUAL_GRACE }: RotateOperatorRequest,
      ) {
        const { token, token_hash } = yield* newToken
        const operator = yield* signed((by) => decisions.rotateToken(name, { token_hash, grace }, by))
        if (operator === undefined) return yield* noSuch("operator")
        return { ...toOperator(operator), token: Redacted.value(token) }
      }),
      /** Removes an operator; count 0 if there is none of this name. */
      remove: Effect.fn("Operators.remove")(function* (name: OperatorName) {
        return { count: yield* signed((by) => decisions.removeOperator(name, by)) }
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Operators, Operators.make)
}
