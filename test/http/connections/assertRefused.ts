import { assert } from "@effect/vitest"
import type { Received } from "../client/exchange.ts"

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

/**
 * Asserts that all that came is a refusal with this status, its id, and no body
 * (docs/rules.md#request-ids).
 */
export const assertRefused = ({ text }: Received, status: number): void => {
  assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [A-Za-z ]+\\r\\n`))
  assert.match(text, new RegExp(`\\r\\nX-Request-Id: ${UUID}\\r\\n`, "i"))
  assert.match(text, /\r\nConnection: close\r\n/i)
  // Nothing comes after the headers: neither a body nor another answer.
  assert.strictEqual(text.indexOf("\r\n\r\n"), text.length - 4, text)
}
