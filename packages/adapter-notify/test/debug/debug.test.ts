import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Schema } from "effect"
import { debug, DebugNotification } from "../../src/debug/debug.ts"
import { firing, resolved, shared } from "../notifications.ts"

const logged = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const lines: Array<{ readonly level: string; readonly message: unknown; readonly annotations: unknown }> =
      []
    const logger = Logger.map(Logger.formatStructured, (line) => {
      lines.push(line)
    })
    const value = yield* Effect.provide(effect, Logger.layer([logger]))
    return { value, lines }
  })

describe("the debug notifier", () => {
  it.effect.each([firing, resolved, shared])(
    "logs one line at info ($event_type, $severity)",
    (notification) =>
      Effect.gen(function* () {
        const { value, lines } = yield* logged(debug.send(notification))
        assert.deepStrictEqual(value, { outcome: "delivered" })
        assert.strictEqual(lines.length, 1)
        assert.strictEqual(lines[0]?.level, "INFO")
        assert.strictEqual(lines[0]?.message, "notification")
        const line = Schema.decodeUnknownSync(DebugNotification)(lines[0]?.annotations)
        assert.strictEqual(line.notification_id, notification.id)
        assert.strictEqual(line.incident_id, notification.incident.id)
        assert.strictEqual(line.resolved_at, notification.incident.resolved_at)
        assert.strictEqual(line.summary, notification.summary)
      }),
  )

  it.effect("logs the same lines about several at once", () =>
    Effect.gen(function* () {
      const all = [firing, resolved, shared]
      const singly = yield* logged(Effect.forEach(all, debug.send))
      const { value, lines } = yield* logged(debug.sendAll?.(all) ?? Effect.die("sendAll is gone"))
      assert.deepStrictEqual(value, { outcome: "delivered" })
      assert.deepStrictEqual(
        lines.map(({ annotations }) => annotations),
        singly.lines.map(({ annotations }) => annotations),
      )
    }),
  )

  it.effect("lets no escape sequence of a check through to a terminal", () =>
    Effect.gen(function* () {
      const { lines } = yield* logged(debug.send({ ...firing, summary: "\u001b[2Jgone\u009b2J" }))
      assert.strictEqual(Schema.decodeUnknownSync(DebugNotification)(lines[0]?.annotations).summary, "gone")
    }),
  )

  it.effect("can be tried", () =>
    Effect.gen(function* () {
      const { value, lines } = yield* logged(debug.test)
      assert.deepStrictEqual(value, { result: { outcome: "delivered" }, status: undefined })
      assert.match(String(lines[0]?.message), /^TEST: /)
    }),
  )
})
