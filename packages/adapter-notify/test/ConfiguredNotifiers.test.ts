import { assert, describe, it } from "@effect/vitest"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, Fiber, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { layer, type NotifiersOptions } from "../src/ConfiguredNotifiers.ts"
import { firing } from "./notifications.ts"
import { answering, startReceiver } from "./Receiver.ts"
import { testIds } from "./testIds.ts"

const withNotifiers = <A, E, R>(options: NotifiersOptions, use: Effect.Effect<A, E, R | Notifiers>) =>
  Effect.provide(use, layer(options)).pipe(Effect.provide(testIds))

const url = Redacted.make("https://receiver.test/")
const secrets = [Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
const kinds = Effect.map(Notifiers, (notifiers) => Array.from(notifiers.keys()))

describe("the configured notifiers", () => {
  it.effect("are those whose options are given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withNotifiers({ debug: false }, kinds), [])
      assert.deepStrictEqual(yield* withNotifiers({ debug: true }, kinds), ["debug"])
      const all: NotifiersOptions = {
        debug: true,
        webhook: { url, secrets },
        messenger: { form: "telegram", token: Redacted.make("1:a"), chat: "@ops" },
        alertRouter: { url },
      }
      assert.deepStrictEqual(yield* withNotifiers(all, kinds), [
        "debug",
        "webhook",
        "messenger",
        "alert_router",
      ])
    }),
  )

  it.effect("each are of the kind they are found by, and only the alert router sends again", () =>
    withNotifiers(
      { debug: true, webhook: { url, secrets }, messenger: { form: "slack", url }, alertRouter: { url } },
      Effect.map(Notifiers, (notifiers) => {
        for (const [kind, notifier] of notifiers) {
          assert.strictEqual(notifier.kind, kind)
          assert.strictEqual(notifier.resend !== undefined, kind === "alert_router")
        }
      }),
    ),
  )

  it.effect("report every invalid setting at the same time, without its value", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        withNotifiers(
          {
            debug: true,
            webhook: { url, secrets: [Redacted.make("whsec_planted?")] },
            messenger: { form: "slack", url: Redacted.make("ftp://planted/") },
            alertRouter: { url: Redacted.make("http://10.1.2.3:9093/planted") },
            denyPrivateTargets: true,
          },
          Notifiers,
        ),
      )
      assert.deepStrictEqual(
        error.problems.map(({ notifier, setting }) => `${notifier} ${setting}`),
        ["webhook secrets", "messenger url", "alert_router url"],
      )
      assert.strictEqual(error.message.split("\n").length, 3)
      assert.notInclude(JSON.stringify(error) + error.message + String(error.stack), "planted")
    }),
  )

  it.effect("give up before a short lease ends", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => {})
      const slack = { form: "slack", url: Redacted.make(receiver.origin) } as const
      yield* withNotifiers(
        { debug: false, messenger: slack, lease: Duration.seconds(3) },
        Effect.gen(function* () {
          const messenger = (yield* Notifiers).get("messenger")
          if (messenger === undefined) return assert.fail("no messenger")
          const attempt = yield* Effect.forkChild(messenger.send(firing))
          yield* Queue.take(receiver.requests)
          yield* TestClock.adjust("2 seconds")
          assert.deepStrictEqual(yield* Fiber.join(attempt), {
            outcome: "deferred",
            error: "The receiver did not answer within 2s.",
          })
        }),
      )
    }),
  )

  it.effect("close their connections with the layer", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      const alertRouter = { url: Redacted.make(receiver.origin) }
      yield* withNotifiers(
        { debug: false, alertRouter },
        Effect.flatMap(Notifiers, (notifiers) => notifiers.get("alert_router")?.send(firing) ?? Effect.void),
      )
      yield* (yield* Queue.take(receiver.requests)).closed
    }),
  )
})
