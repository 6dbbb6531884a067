import { assert } from "@effect/vitest"
import type { Answer } from "./Answer.ts"

/** The error of an answer whose shape `call` has checked. */
export const errorOf = (
  answer: Answer,
): { readonly code: string; readonly message: string; readonly request_id: string } =>
  // `call` lets no other error body pass.
  (answer.body as { error: { code: string; message: string; request_id: string } }).error

/** Asserts that an answer is this error. Returns its message. */
export const expectError = (answer: Answer, status: number, code: string, because?: string): string => {
  assert.strictEqual(answer.status, status, because ?? answer.text)
  assert.strictEqual(errorOf(answer).code, code, because)
  return errorOf(answer).message
}
