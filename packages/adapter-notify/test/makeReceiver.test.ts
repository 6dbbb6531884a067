import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_SEND_TIMEOUT, sendTimeout } from "../src/http/HttpPost.ts"
import { makeReceiver } from "../src/policyReceivers.ts"
import { firing } from "./notifications.ts"
import { answering, startReceiver } from "./Receiver.ts"
import { testIds } from "./testIds.ts"

const url = Redacted.make("https://receiver.test/")
const secret = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
const posting = { denyPrivateTargets: false, timeout: DEFAULT_SEND_TIMEOUT }

describe("receivers", () => {
  it.effect("are of the kind that their definition says, and only the alert router sends again", () =>
    Effect.gen(function* () {
      for (const kind of ["debug", "webhook", "messenger", "alert_router"] as const) {
        const notifier = yield* makeReceiver({ kind }, { url, secret }, posting)
        assert.strictEqual(notifier.kind, kind)
        assert.strictEqual(notifier.resend !== undefined, kind === "alert_router")
      }
    }).pipe(Effect.provide(testIds)),
  )

  it.effect("name an invalid setting without its value", () =>
    Effect.gen(function* () {
      const refused = [
        ["secrets", { kind: "webhook" }, { url, secret: Redacted.make("whsec_planted?") }],
        ["url", { kind: "messenger" }, { url: Redacted.make("ftp://planted/") }],
        ["url", { kind: "alert_router" }, { url: Redacted.make("http://10.1.2.3/planted") }],
      ] as const
      for (const [setting, definition, secrets] of refused) {
        const made = makeReceiver(definition, secrets, { ...posting, denyPrivateTargets: true })
        const error = yield* Effect.flip(made)
        assert.include(error, { _tag: "BadNotifierSetting", setting })
        assert.notInclude(JSON.stringify(error) + error.message + String(error.stack), "planted")
      }
    }).pipe(Effect.provide(testIds)),
  )

  it.effect("give up before a short lease ends", () =>
    Effect.gen(function* () {
      const { origin, requests } = yield* startReceiver(() => {})
      const timeout = sendTimeout(Duration.seconds(3))
      const secrets = { url: Redacted.make(origin) }
      const messenger = yield* makeReceiver({ kind: "messenger" }, secrets, { ...posting, timeout })
      const attempt = yield* Effect.forkChild(messenger.send(firing))
      yield* Queue.take(requests)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Fiber.join(attempt), {
        outcome: "deferred",
        error: "The receiver did not answer within 2s.",
      })
    }).pipe(Effect.provide(testIds)),
  )

  it.effect("close their connections with the scope", () =>
    Effect.gen(function* () {
      const { origin, requests } = yield* startReceiver(answering(200))
      const made = makeReceiver({ kind: "alert_router" }, { url: Redacted.make(origin) }, posting)
      yield* Effect.scoped(Effect.flatMap(made, ({ send }) => send(firing)))
      yield* (yield* Queue.take(requests)).closed
    }).pipe(Effect.provide(testIds)),
  )
})
