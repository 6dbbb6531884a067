import type { ErrorCode } from "@tocsin/contract/formats/Errors"

/**
 * Why a call failed. The service's codes:
 *
 * - `validation`: a request or parameter is invalid; `message` names the first bad field by its
 *   path. The client finds most before it sends anything; then there is no `requestId`
 * - `unauthorized`: the token or agent key is missing, or the service does not know it
 * - `forbidden`: the token may only read
 * - `agent_blocked`, `agent_not_accepted`: the agent key is blocked, or not accepted for that
 *   agent_id
 * - `not_found`, `conflict`, `payload_too_large`, `not_ready`
 * - `rate_limited`, `internal`: retry after `retryAfterSeconds`, if the answer has it
 *
 * The client's own:
 *
 * - `connection`: no server listens there, or the connection broke
 * - `timeout`: no complete answer arrived in time
 * - `unavailable`: a proxy answered 500 or above, in its own words
 * - `unexpected_answer`: the answer is not Tocsin's, or an older one's; check the base address
 * - `options`: the client's options are invalid
 *
 * After `connection`, `timeout`, `unavailable` and `internal` the call may have taken effect.
 * Heartbeats and events are safe to repeat; `block` and `blockAll` are not.
 */
export type ClientErrorCode =
  | ErrorCode
  | "connection"
  | "timeout"
  | "unavailable"
  | "unexpected_answer"
  | "options"

/** Codes of every call that is sent; a proxy may limit its rate, too. */
export type AnyCallCode = "connection" | "timeout" | "rate_limited" | "unavailable" | "unexpected_answer"

export interface ClientErrorDetails {
  /** The HTTP status of the answer. */
  readonly status?: number | undefined
  /** Names the request in the service's log. */
  readonly requestId?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** The runtime's error; never the request. */
  readonly cause?: unknown
}

/** In errors of every copy of the library. No unique symbol, so that the types of two copies are one. */
const MARK = "~tocsin/TocsinClientError"

/**
 * The only error of the client: promises reject with it, effects fail with it. Programs read
 * `code`; `message` is for people and contains no token or key.
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

/** A failure with one of these codes, as a union: a check of `code` narrows it. */
export type ClientFailure<Code extends ClientErrorCode> = Code extends ClientErrorCode
  ? TocsinClientError<Code>
  : never

/** Whether a thrown value is a {@link TocsinClientError}, also of another copy of the client. */
export const isTocsinClientError = (error: unknown): error is ClientFailure<ClientErrorCode> =>
  typeof error === "object" && error !== null && MARK in error

/**
 * Whether a failure has this code.
 *
 * @example
 * ```ts
 * Effect.catchIf(calls.agents.get("web-1"), hasCode("not_found"), () => Effect.succeed(undefined))
 * ```
 */
export const hasCode =
  <Code extends ClientErrorCode>(code: Code) =>
  <Error extends TocsinClientError>(error: Error): error is Extract<Error, { readonly code: Code }> =>
    error.code === code
