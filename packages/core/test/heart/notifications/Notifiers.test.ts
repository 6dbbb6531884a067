import { assert, it } from "@effect/vitest"
import { toNotifierTest } from "@tocsin/core/heart/notifications/Notifiers"

it("a test that not all recipients get names those", () => {
  const error = "The mail server cannot address ü@example.org: it lacks SMTPUTF8."
  const shown = toNotifierTest({ result: { outcome: "delivered", error }, status: 250 })
  assert.deepStrictEqual(shown, { outcome: "delivered", status: 250, error })
  assert.isNull(toNotifierTest({ result: { outcome: "delivered" }, status: 250 }).error)
})
