import type { CoreError } from "@tocsin/adapter-http/response/failures"
import { Cause } from "effect"
import { isTocsinError, TocsinError, type TocsinErrorCode } from "../TocsinError.ts"

/** What an effect that answers a call may fail with. */
export type CallError = CoreError | TocsinError

/** The code of each error of the core. */
const CODES = {
  ValidationError: "validation",
  AgentBlocked: "agent_blocked",
  AgentNotAccepted: "agent_not_accepted",
  AgentNotFound: "not_found",
  NotFound: "not_found",
  KeyConflict: "conflict",
  StateConflict: "conflict",
  RateLimited: "rate_limited",
  StorageError: "storage",
} as const satisfies Readonly<Record<CoreError["_tag"], TocsinErrorCode>>

/** The codes of the errors that a call may fail with. */
export type CodeOf<E extends CallError> =
  E extends TocsinError<infer Code> ? Code : E extends CoreError ? (typeof CODES)[E["_tag"]] : never

const CLOSED = "the monitor was closed before this was done; it is unknown whether it took effect"

const NO_SUCH_AGENT = "no agent has this agent_id; list agents with monitor.agents.list()"

/** An error as the library tells it. */
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

/** Why a call ended without a value, as the library tells it. */
export const causeToTocsinError = (cause: Cause.Cause<CallError>): TocsinError => {
  const [reason] = cause.reasons.filter(Cause.isFailReason)
  if (reason !== undefined) return toTocsinError(reason.error)
  if (Cause.hasInterruptsOnly(cause)) return new TocsinError("closed", CLOSED)
  return new TocsinError(
    "internal",
    "Tocsin failed by a mistake of its own; report it with the cause of this error",
    {
      cause: Cause.squash(cause),
    },
  )
}
