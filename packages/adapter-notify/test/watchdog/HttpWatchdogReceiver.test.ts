import { assert, describe, it } from "@effect/vitest"
import { type WatchdogPing, WatchdogReceiver } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Fiber, Layer, Queue, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as HttpWatchdogReceiver from "../../src/watchdog/HttpWatchdogReceiver.ts"
import { parseTarget } from "../../src/http/Target.ts"
import { answering, startReceiver } from "../Receiver.ts"

const well: WatchdogPing = { isWell: true }
const unwell: WatchdogPing = { isWell: false, text: "Tocsin is not well: größer ✓." }

/** Sends one watchdog ping to an address. */
const send = (address: string, watchdog: WatchdogPing, denyPrivateTargets = false) => {
  const target = Result.getOrThrow(parseTarget(Redacted.make(address), { denyPrivateTargets: false }))
  return Effect.flatMap(WatchdogReceiver, (receiver) => receiver.send(watchdog)).pipe(
    Effect.provide(Layer.fresh(HttpWatchdogReceiver.layer({ target, denyPrivateTargets }))),
  )
}

describe("a watchdog ping", () => {
  it.effect("is GET of the address while all is well, and otherwise POST to /fail below it", () =>
    Effect.gen(function* () {
      const { origin, requests } = yield* startReceiver(answering(200, {}, "OK"))
      for (const [address, ofWell, ofFail] of [
        ["/ping/uuid", "/ping/uuid", "/ping/uuid/fail"],
        ["/ping/key/slug/", "/ping/key/slug/", "/ping/key/slug/fail"],
        ["/ping/key/slug?create=1", "/ping/key/slug?create=1", "/ping/key/slug/fail?create=1"],
        ["", "/", "/fail"],
      ] as const) {
        assert.deepStrictEqual(yield* send(origin + address, well), {
          status: 200,
          result: { outcome: "delivered" },
        })
        const first = yield* Queue.take(requests)
        assert.deepStrictEqual([first.method, first.path, first.body], ["GET", ofWell, ""])
        assert.isUndefined(first.headers["content-length"])
        yield* send(origin + address, unwell)
        const second = yield* Queue.take(requests)
        assert.deepStrictEqual(
          [second.method, second.path, second.body],
          ["POST", ofFail, "Tocsin is not well: größer ✓."],
        )
        assert.strictEqual(second.headers["content-type"], "text/plain; charset=utf-8")
        assert.strictEqual(second.headers["user-agent"], "Tocsin")
      }
    }),
  )

  it.effect("carries the credentials of its address", () =>
    Effect.gen(function* () {
      const { origin, requests } = yield* startReceiver(answering(204))
      yield* send(origin.replace("http://", "http://me:word@"), well)
      assert.strictEqual((yield* Queue.take(requests)).headers.authorization, `Basic ${btoa("me:word")}`)
    }),
  )

  it.effect("has not arrived by any status but 2xx, and follows no redirect", () =>
    Effect.gen(function* () {
      for (const status of [301, 302, 404, 429, 500]) {
        const { origin, requests } = yield* startReceiver(answering(status, { location: "/elsewhere" }))
        const { result } = yield* send(`${origin}/secret-path`, well)
        assert(result.outcome === "deferred")
        assert.strictEqual(result.error, `The receiver answered ${status}: check SERVICE_WATCHDOG_URL.`)
        yield* Queue.take(requests)
        assert.strictEqual(yield* Queue.size(requests), 0)
      }
    }),
  )

  it.effect("fails with a sentence without the address if the connection fails", () =>
    Effect.gen(function* () {
      const { status, result } = yield* send("http://127.0.0.1:1/secret-path", well)
      assert.isUndefined(status)
      assert(result.outcome === "deferred")
      assert.match(result.error, /^The receiver refused the connection/)
    }),
  )

  it.effect("times out after 10 s", () =>
    Effect.gen(function* () {
      const { origin, requests } = yield* startReceiver(() => {})
      const sending = yield* Effect.forkChild(send(origin, well))
      yield* Queue.take(requests)
      yield* TestClock.adjust("10 seconds")
      const { result } = yield* Fiber.join(sending)
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error: "The receiver did not answer within 10s.",
      })
    }),
  )

  it.effect("is not sent to refused addresses that a name leads to", () =>
    Effect.gen(function* () {
      const { port, requests } = yield* startReceiver(answering(200))
      const { result } = yield* send(`http://localhost:${port}/`, well, true)
      assert.strictEqual(result.outcome, "refused")
      assert.strictEqual(yield* Queue.size(requests), 0)
    }),
  )
})
