import type { Failure } from "./errorResponse.ts"

/** What a request is answered with that failed in a way that nobody foresaw: without detail (docs/rules.md#failures-of-the-storage). */
export const unforeseen: Failure = {
  code: "internal",
  message: "the service failed unexpectedly; see its log",
}
