import type { StorageFailure } from "@tocsin/core/kernel/ports/Storage"

/**
 * Why a call failed. The first seven are codes of the HTTP API.
 *
 * - `validation`: a request or parameter is invalid; `message` names the first bad field by its path
 * - `unauthorized`: no agent key, or an operator's token
 * - `agent_blocked`: the agent key is blocked
 * - `agent_not_accepted`: the agent key is not accepted for that agent_id, so its events do not count
 * - `not_found`: no such agent, check, incident, outbox item or notifier
 * - `conflict`: the current state forbids it
 * - `rate_limited`: retry after `retryAfterSeconds`
 * - `storage`: `reason` says how it failed. After `timed_out` and `unavailable`, and with `keyValue` after any
 *   reason, the call may have taken effect: heartbeats and events are safe to repeat, `block` and `blockAll` are not
 * - `options`: `message` lists all problems, a line each
 * - `pepper_changed`: keyPepper differs from the storage's first use
 * - `closed`: the monitor is closed, or closed before the call ended
 * - `internal`: a defect of Tocsin; see `cause`
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

/** Codes of every call. */
export type AnyCallCode = "storage" | "closed" | "internal"

export interface TocsinErrorDetails {
  /** The cause, for a log; never for an answer to a client. */
  readonly cause?: unknown
  /** With code `storage`: how the storage failed. */
  readonly reason?: StorageFailure | undefined
  /** With code `rate_limited`: when to retry. */
  readonly retryAfterSeconds?: number | undefined
}

/** In errors of every copy of the library. No unique symbol, so that the types of two copies are one. */
const MARK = "~tocsin/TocsinError"

/**
 * The only error that the library's promises reject with. Programs read `code`; `message` is for people and
 * holds no secret.
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
  /** For programs. */
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

/** Whether a thrown value is a {@link TocsinError}, also of another copy of the library. */
export const isTocsinError = (error: unknown): error is TocsinError =>
  typeof error === "object" && error !== null && MARK in error
