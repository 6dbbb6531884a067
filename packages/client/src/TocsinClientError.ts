import type { ErrorCode } from "@tocsin/core/contract/Errors"

/**
 * Why a call failed. The service's own codes are those of the contract:
 *
 * - `validation`: a request or parameter does not fit the contract; `message` names the first bad field by its path. Most are
 *   found here, before anything is sent: then there is no `requestId`
 * - `unauthorized`: there is no token or agent key for this call, or the service does not know it
 * - `forbidden`: the token may only read
 * - `agent_blocked`, `agent_not_accepted`: the agent key is blocked, or not accepted for that agent_id
 * - `not_found`, `conflict`, `payload_too_large`, `not_ready`
 * - `rate_limited`, `internal`: `retryAfterSeconds` says when another try may succeed, where the answer said so
 *
 * The others are the client's:
 *
 * - `connection`: no answer came: nobody listens there, or the connection broke
 * - `timeout`: no whole answer came in time
 * - `unavailable`: something in front of the service answered 502, 503 or 504
 * - `unexpected_answer`: what answered is no Tocsin of this contract; look at the base address
 * - `options`: the client was given options that it cannot take
 *
 * After `connection`, `timeout`, `unavailable` and `internal` it is unknown whether the call took effect. Heartbeats and events are
 * safe to repeat; `block` and `blockAll` are not.
 */
export type ClientErrorCode =
  | ErrorCode
  | "connection"
  | "timeout"
  | "unavailable"
  | "unexpected_answer"
  | "options"

/** What can happen to any call that is sent; a proxy may limit its rate, too. */
export type AnyCallCode = "connection" | "timeout" | "rate_limited" | "unavailable" | "unexpected_answer"

/** What more is known of an error. */
export interface ClientErrorDetails {
  /** HTTP status, where an answer came. */
  readonly status?: number | undefined
  /** Names the request in the service's log, where the service answered. */
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** What the runtime said; never the request. */
  readonly cause?: unknown
}

// Known by everyone who loads the client, even by two copies of it.
const MARK = Symbol.for("tocsin/TocsinClientError")

/**
 * The one error of the client: promises reject with it, effects fail with it. Tell errors apart by `code`; `message` is for
 * people, and holds no token and no key.
 *
 * @example
 * ```ts
 * try {
 *   await client.agents.get("web-1")
 * } catch (error) {
 *   if (isTocsinClientError(error) && error.code === "not_found") return undefined
 *   throw error
 * }
 * ```
 */
export class TocsinClientError<Code extends ClientErrorCode = ClientErrorCode> extends Error {
  readonly _tag = "TocsinClientError"
  override readonly name = "TocsinClientError"
  /** What kind of failure it is, for programs. */
  readonly code: Code
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly [MARK] = true

  constructor(code: Code, message: string, details: ClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** A failure with one of some codes; distributed over them, so that a look at `code` narrows it. */
export type ClientFailure<Code extends ClientErrorCode> = Code extends ClientErrorCode
  ? TocsinClientError<Code>
  : never

/** Whether something that was thrown is a {@link TocsinClientError}; true also for one of another copy of the client. */
export const isTocsinClientError = (error: unknown): error is ClientFailure<ClientErrorCode> =>
  typeof error === "object" && error !== null && MARK in error

/**
 * Whether a failure has this code.
 *
 * @example
 * ```ts
 * Effect.catchIf(client.agents.get("web-1"), hasCode("not_found"), () => Effect.succeed(undefined))
 * ```
 */
export const hasCode =
  <Code extends ClientErrorCode>(code: Code) =>
  <Error extends TocsinClientError>(error: Error): error is Extract<Error, { readonly code: Code }> =>
    error.code === code
