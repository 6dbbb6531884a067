import { type Cause, Effect } from "effect"
import type { Failure } from "./errorResponse.ts"

/** What a request is answered with that failed in a way that nobody foresaw: without detail (decisions §1). */
export const unforeseen: Failure = {
  code: "internal",
  message: "the service failed unexpectedly; its log says why",
}

/** Logs what {@link unforeseen} does not tell. */
export const logUnforeseen = (cause: Cause.Cause<unknown>, requestId: string): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError("a request failed unexpectedly", cause), { request_id: requestId })
