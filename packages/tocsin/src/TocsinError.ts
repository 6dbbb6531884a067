import type { StorageFailure } from "@tocsin/core/ports/Storage"

/**
 * Why a call failed. The first seven are those of the HTTP API, for the same reasons:
 *
 * - `validation`: a request or parameter does not fit the contract; `message` names the first bad
 *   field by its path
 * - `unauthorized`: an agent key is no bearer token, or is one of the operators' tokens
 * - `agent_blocked`: the agent key is blocked
 * - `agent_not_accepted`: the agent key is not accepted for that agent_id, so its events do not
 *   count
 * - `not_found`: there is no such agent, check, incident, outbox item or notifier
 * - `conflict`: it does not go with the present state
 * - `rate_limited`: too much; `retryAfterSeconds` says when another try may succeed
 *
 * The others are the library's own:
 *
 * - `storage`: the storage failed; `reason` says how. After `timed_out` and `unavailable` it is
 *   unknown whether the call took effect: heartbeats and events are safe to repeat, `block` and
 *   `blockAll` are not
 * - `options`: createMonitor was given options that it cannot take; `message` tells all of them, a
 *   line each
 * - `pepper_changed`: keyPepper is another than when the storage was first used
 * - `closed`: the monitor is closed, or was before the call ended
 * - `internal`: a mistake of ours; `cause` has it
 */
export type TocsinErrorCode =
  | "validation"
  | "unauthorized"
  | "agent_blocked"
  | "agent_not_accepted"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "storage"
  | "options"
  | "pepper_changed"
  | "closed"
  | "internal"

/** What can happen to any call, whatever it is. */
export type AnyCallCode = "storage" | "closed" | "internal"

/** What more is known of an error, by its code. */
export interface TocsinErrorDetails {
  /** What it was caused by, for a log; never for an answer to somebody else. */
  readonly cause?: unknown
  /** With code `storage`: how the storage failed. */
  readonly reason?: StorageFailure | undefined
  /** With code `rate_limited`: after how many seconds another try may succeed. */
  readonly retryAfterSeconds?: number | undefined
}

// Known by everyone who loads the library, even by two copies of it.
const MARK = Symbol.for("tocsin/TocsinError")

/**
 * The one error that the library's promises reject with. Tell errors apart by `code`; `message` is
 * for people, says what to do, and holds no secret.
 *
 * @example
 * ```ts
 * try {
 *   await monitor.heartbeat(key, heartbeat)
 * } catch (error) {
 *   if (isTocsinError(error) && error.code === "rate_limited") await pause(error.retryAfterSeconds)
 *   else throw error
 * }
 * ```
 */
export class TocsinError<Code extends TocsinErrorCode = TocsinErrorCode> extends Error {
  override readonly name = "TocsinError"
  /** What kind of failure it is, for programs. */
  readonly code: Code
  /** With code `storage`: how the storage failed. */
  readonly reason: StorageFailure | undefined
  /** With code `rate_limited`: after how many seconds another try may succeed. */
  readonly retryAfterSeconds: number | undefined
  readonly [MARK] = true

  constructor(code: Code, message: string, details: TocsinErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.reason = details.reason
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/**
 * Whether something that was thrown is a {@link TocsinError}; true also for one of another copy of
 * the library.
 */
export const isTocsinError = (error: unknown): error is TocsinError =>
  typeof error === "object" && error !== null && MARK in error
