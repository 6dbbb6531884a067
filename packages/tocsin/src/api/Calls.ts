import { codes, type CoreError } from "@tocsin/adapter-http/response/failures"
import { ActorName } from "@tocsin/contract/audit/Audit"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { unknownArguments } from "@tocsin/contract/formats/nearestName"
import { within } from "@tocsin/reporting/program/Platform"
import { Cause, type Context, Effect, Exit, type Fiber, Result, Schema, SchemaParser } from "effect"
import { type AnyCallCode, TocsinError, type TocsinErrorCode, isTocsinError } from "../TocsinError.ts"

export type CallError = CoreError | TocsinError

/** Those of the API, but for the storage's own. A program acts as an admin, so that it is never refused by its role. */
const CODES = { ...codes, NotPermitted: "conflict", StorageError: "storage" } as const satisfies Readonly<
  Record<CoreError["_tag"], TocsinErrorCode>
>

export type CodeOf<E extends CallError> =
  E extends TocsinError<infer Code> ? Code : E extends CoreError ? (typeof CODES)[E["_tag"]] : never

const CLOSED = "the monitor was closed before this was done; it is unknown whether it took effect"

const MISTAKE = "Tocsin failed because of a defect; report it with the cause of this error"

const NO_SUCH_AGENT = "no agent has this agent_id; list agents with monitor.agents.list()"

const toTocsinError = (error: CallError): TocsinError => {
  if (isTocsinError(error)) return error
  const code = CODES[error._tag]
  switch (error._tag) {
    case "StorageError":
      return new TocsinError(code, error.message, { reason: error.reason, cause: error.cause ?? error })
    case "RateLimited":
      return new TocsinError(code, error.message, { retryAfterSeconds: error.retryAfterSeconds })
    case "AgentNotFound":
      return new TocsinError(code, NO_SUCH_AGENT)
    default:
      return new TocsinError(code, error.message)
  }
}

/** The error of a call that ended without a value. */
export const causeToTocsinError = (cause: Cause.Cause<CallError>): TocsinError => {
  const [reason] = cause.reasons.filter(Cause.isFailReason)
  if (reason !== undefined) return toTocsinError(reason.error)
  if (Cause.hasInterruptsOnly(cause)) return new TocsinError("closed", CLOSED)
  return new TocsinError("internal", MISTAKE, { cause: Cause.squash(cause) })
}

type ReplyOf<A, E extends CallError> = Reply<A, CodeOf<E> | AnyCallCode>

/** The refusal of a monitor that is closed. */
export const closed = (): TocsinError<"closed"> =>
  new TocsinError("closed", "the monitor is closed; make another with createMonitor")

/** Counts calls and requests under way, so that `close` can wait for them. */
export class Activity {
  #underWay = 0
  #onIdle: (() => void) | undefined

  /** Begins one; the result ends it, and is safe to call twice. */
  begin(): () => void {
    let hasEnded = false
    this.#underWay += 1
    return () => {
      if (hasEnded) return
      hasEnded = true
      this.#underWay -= 1
      if (this.#underWay === 0) this.#onIdle?.()
    }
  }

  /** Resolves once none is under way, or after the limit. */
  async idle(limitMillis: number): Promise<void> {
    if (this.#underWay === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    await within(limitMillis, idle)
  }
}

export class Calls {
  readonly #run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly #activity: Activity
  readonly #underWay = new Set<Fiber.Fiber<unknown, unknown>>()
  #isClosed = false

  constructor(services: Context.Context<never>, activity: Activity) {
    this.#run = Effect.runForkWith(services)
    this.#activity = activity
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  readonly reply = <A, E extends CallError>(effect: Effect.Effect<A, E>): ReplyOf<A, E> => {
    const outcome = this.#outcomeOf(effect)
    const value = outcome.then((settled) => {
      if (settled.ok) return settled.value
      throw settled.error
    })
    return Object.assign(value, {
      outcome: () => {
        // The outcome reports the error, so the rejection needs no handler.
        value.catch(() => {})
        return outcome
      },
    })
  }

  close(): void {
    this.#isClosed = true
  }

  interrupt(): void {
    for (const fiber of this.#underWay) fiber.interruptUnsafe()
  }

  #outcomeOf<A, E extends CallError>(
    effect: Effect.Effect<A, E>,
  ): Promise<Outcome<A, CodeOf<E> | AnyCallCode>> {
    return new Promise((resolve) => {
      // An index by a tag loses that the code is the error's.
      const fail = (error: TocsinError) =>
        resolve({ ok: false, error } as Outcome<A, CodeOf<E> | AnyCallCode>)
      if (this.#isClosed) return fail(closed())
      const end = this.#activity.begin()
      const fiber = this.#run(effect)
      this.#underWay.add(fiber)
      fiber.addObserver((exit) => {
        this.#underWay.delete(fiber)
        end()
        if (Exit.isSuccess(exit)) resolve({ ok: true, value: exit.value })
        else fail(causeToTocsinError(exit.cause))
      })
    })
  }
}

/** The outcome of a call: its value, or its error with one of the codes of this call. */
export type Outcome<A, Code extends TocsinErrorCode> =
  | { readonly ok: true; readonly value: A }
  // A union over the codes, so that a `switch` on `error.code` narrows.
  | { readonly ok: false; readonly error: Code extends TocsinErrorCode ? TocsinError<Code> : never }

/**
 * The result of every method: a promise that rejects with a {@link TocsinError}. `outcome()` has
 * the possible errors in its type instead, and never rejects.
 *
 * @example
 * ```ts
 * const outcome = await monitor.events(key, batch).outcome()
 * if (!outcome.ok) {
 *   switch (outcome.error.code) {
 *     case "agent_not_accepted":
 *       return askAnOperator()
 *     // … the compiler checks that you handle the other codes of this method
 *   }
 * }
 * ```
 */
export interface Reply<A, Code extends TocsinErrorCode> extends Promise<A> {
  /** The same call as a value. */
  readonly outcome: () => Promise<Outcome<A, Code>>
}

export interface By {
  /** The name that the audit and timelines show, `library` unless given. */
  readonly by?: string | undefined
}

/** The arguments of a call that may change something: its object, or a further one, can name who acts. */
export type SignedInput<Input extends ReadonlyArray<unknown>> = [Extract<Input[number], object>] extends [
  never,
]
  ? [...Input, by?: By]
  : { [At in keyof Input]: Input[At] extends string ? Input[At] : Input[At] & By }

const decodeActor = SchemaParser.decodeUnknownResult(Schema.Struct({ by: Schema.optionalKey(ActorName) }))

interface Signed {
  readonly by: string | undefined
  readonly input: ReadonlyArray<unknown>
}

/** Takes the name of who acts out of the arguments of a call, and refuses others behind its first `inputs`. */
export const readSigned = (
  given: ReadonlyArray<unknown>,
  inputs: number,
): Result.Result<Signed, ValidationError> => {
  const problems = unknownArguments(given.slice(inputs), ["by"])
  if (problems.length > 0) return Result.fail(new ValidationError({ message: problems.join("\n") }))
  const at = given.findLastIndex((one) => typeof one === "object" && one !== null && "by" in one)
  if (at === -1) return Result.succeed({ by: undefined, input: given })
  const { by: name, ...others } = Object(given[at]) as By
  return Result.mapBoth(decodeActor(name === undefined ? {} : { by: name }), {
    onSuccess: ({ by }) => ({ by, input: given.with(at, others) }),
    onFailure: (issue) => new ValidationError({ message: describeIssue(issue, "the arguments") }),
  })
}
