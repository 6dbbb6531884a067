import * as ApiErrors from "@tocsin/contract/api/ApiErrors"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  type Act,
  ActTaken,
  CurrentAct,
  findKey,
  storeAnswer,
} from "@tocsin/core/kernel/engine/commits/actOnce"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { TokenBuckets } from "@tocsin/core/kernel/engine/limits/TokenBuckets"
import type { IdempotencyKeyRecord } from "@tocsin/core/kernel/model/IdempotencyKeyRecord"
import { CurrentOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Cause, Effect, Exit, Fiber, Redacted, Schedule, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RequestId } from "../response/headerFields.ts"
import {
  answeringMatch,
  type CoreError,
  errorResponse,
  type Failure,
  toApiError,
} from "../response/failures.ts"

export interface BodyCodec {
  readonly encodePayload: (payload: unknown) => unknown
  readonly encodeSuccess: (success: unknown) => unknown
  readonly decodeSuccess: (json: unknown) => unknown
}

export interface Arrived {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly payload?: unknown
}

const KEY = /^[\x21-\x7e]{1,128}$/
/** Longer answers are not kept. */
const LONGEST_ANSWER = 16_384
/** New keys of an operator in each process. */
const NEW_KEYS = { perMinute: 60, burst: 10_000 }
const OPERATORS_KEPT = 1_000
/** How long an equal request waits for the answer of the first one: at most ten seconds. */
const WAIT = { schedule: Schedule.spaced("250 millis"), times: 40 }

const INVALID = {
  code: "validation",
  message: "Idempotency-Key must be 1 to 128 visible ASCII characters",
} as const
const ANOTHER_REQUEST = {
  code: "conflict",
  message:
    "this Idempotency-Key came with another request within the last 24 hours; send a new key with each act",
} as const
const UNANSWERED = {
  code: "conflict",
  message:
    "a request with this Idempotency-Key is under way, or was carried out and its answer is not kept; look before you act again with another key",
} as const

/** The refusals that an act ends with; an equal request gets them again. */
const REFUSALS = {
  Validation: ApiErrors.Validation,
  NotFound: ApiErrors.NotFound,
  Conflict: ApiErrors.Conflict,
  PreconditionFailed: ApiErrors.PreconditionFailed,
} as const

const Kept = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ success: Schema.Unknown }),
    Schema.Struct({
      refusal: Schema.Literals(["Validation", "NotFound", "Conflict", "PreconditionFailed"]),
      message: Schema.String,
    }),
  ]),
)
const encodeKept = Schema.encodeSync(Kept)
const decodeKept = Schema.decodeUnknownSync(Kept)

const TAKEN = Symbol("taken")

const orTaken = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchCause(effect, (cause) =>
    cause.reasons.some((reason) => Cause.isDieReason(reason) && reason.defect instanceof ActTaken)
      ? Effect.succeed(TAKEN)
      : Effect.failCause(cause),
  )

const refuse = (failure: Failure) => Effect.map(RequestId, (id) => errorResponse(failure, id))

/** Text of the answer to keep; absent where an equal request should try again. */
const keptText = (exit: Exit.Exit<unknown, unknown>, { encodeSuccess }: BodyCodec): string | undefined => {
  if (Exit.isSuccess(exit))
    return exit.value === TAKEN ? undefined : encodeKept({ success: encodeSuccess(exit.value) })
  const error: unknown = Cause.squash(exit.cause)
  for (const refusal of Object.keys(REFUSALS) as ReadonlyArray<keyof typeof REFUSALS>)
    if (error instanceof REFUSALS[refusal]) return encodeKept({ refusal, message: error.message })
  return undefined
}

/**
 * Carries out requests with an `Idempotency-Key` once (docs/rules.md#acting-once). The act continues if its
 * client disconnects, so that the repeated request gets its answer.
 */
export const actingOnce = Effect.gen(function* () {
  const { transact } = yield* Commits
  const { open, seal, sha256 } = yield* Hashing
  const newKeys = new TokenBuckets(NEW_KEYS, OPERATORS_KEPT)

  const repeat = Effect.fnUntraced(function* (
    row: IdempotencyKeyRecord | undefined,
    request_hash: string,
    secret: Redacted.Redacted,
    { decodeSuccess }: BodyCodec,
  ) {
    if (row !== undefined && row.request_hash !== request_hash) return yield* refuse(ANOTHER_REQUEST)
    const kept = row?.answer && open(secret, row.answer)
    if (!kept) return yield* refuse(UNANSWERED)
    const answer = decodeKept(kept)
    if ("success" in answer) return decodeSuccess(answer.success)
    const Refusal = REFUSALS[answer.refusal]
    return yield* Effect.fail(new Refusal({ message: answer.message, request_id: yield* RequestId }))
  })

  return Effect.fnUntraced(function* (
    codec: BodyCodec,
    { payload, request: { headers, method, url } }: Arrived,
    useCase: Effect.Effect<unknown, CoreError>,
  ) {
    const key = headers["idempotency-key"]
    if (key === undefined) return yield* answeringMatch(useCase)
    if (!KEY.test(key)) return yield* refuse(INVALID)
    const { name } = yield* CurrentOperator
    const id = sha256(`${name} ${key}`)
    const body = payload === undefined ? "" : JSON.stringify(codec.encodePayload(payload))
    // With the key, which no storage has, so that the row says nothing of a secret in the body.
    const request_hash = sha256(`${key} ${method} ${url} ${body}`)
    // A storage has neither.
    const secret = Redacted.make(`${headers["authorization"]} ${key}`)
    const find = toApiError(transact(findKey({ id })))
    const found = yield* find
    if (found === undefined) {
      const permission = newKeys.take(name, yield* Instant.now)
      if (!permission.allowed)
        return yield* refuse({
          code: "rate_limited",
          message: `too many new idempotency keys; try again in ${permission.retryAfterSeconds} s`,
          retryAfterSeconds: permission.retryAfterSeconds,
        })
      const act: Act = { id, request_hash, isStored: false }
      const acting = answeringMatch(orTaken(Effect.provideService(useCase, CurrentAct, act))).pipe(
        Effect.exit,
        Effect.tap((exit) => {
          const text = keptText(exit, codec)
          return text === undefined || text.length > LONGEST_ANSWER
            ? Effect.void
            : Effect.ignore(transact(storeAnswer(act, seal(secret, text))))
        }),
      )
      const answer = yield* yield* Fiber.join(yield* Effect.forkDetach(acting))
      if (answer !== TAKEN) return answer
    }
    const isSettled = (row: IdempotencyKeyRecord | undefined) =>
      row === undefined || row.answer !== undefined || row.request_hash !== request_hash
    const settled = yield* Effect.repeat(find, { ...WAIT, until: isSettled })
    return yield* repeat(settled, request_hash, secret, codec)
  })
})
