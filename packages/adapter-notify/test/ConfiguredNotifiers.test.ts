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
const secret = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
const debug = { definition: { kind: "debug" }, secrets: {} } as const
const webhook = { definition: { kind: "webhook" }, secrets: { url, secret } } as const
const alertRouter = { definition: { kind: "alert_router" }, secrets: { url } } as const
const slack = { definition: { kind: "messenger" }, secrets: { url } } as const
const telegram = {
  definition: { kind: "messenger", telegram_chat: "@ops" },
  secrets: { telegram_token: Redacted.make("1:a") },
} as const
const kinds = Effect.map(Notifiers, (notifiers) => Array.from(notifiers.keys()))

describe("the configured notifiers", () => {
  it.effect("are those of the given receivers, by their types or kinds", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withNotifiers({ receivers: [] }, kinds), [])
      assert.deepStrictEqual(yield* withNotifiers({ receivers: [debug] }, kinds), ["debug"])
      const ntfy = { definition: { kind: "messenger", type: "ntfy" }, secrets: { url } } as const
      const all: NotifiersOptions = { receivers: [debug, webhook, telegram, alertRouter, ntfy] }
      assert.deepStrictEqual(yield* withNotifiers(all, kinds), [
        "debug",
        "webhook",
        "messenger",
        "alert_router",
        "ntfy",
      ])
    }),
  )

  it.effect("each are of the kind they are found by, and only the alert router sends again", () =>
    withNotifiers(
      { receivers: [debug, webhook, slack, alertRouter] },
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
            receivers: [
              debug,
              { ...webhook, secrets: { url, secret: Redacted.make("whsec_planted?") } },
              { ...slack, secrets: { url: Redacted.make("ftp://planted/") } },
              { ...alertRouter, secrets: { url: Redacted.make("http://10.1.2.3:9093/planted") } },
            ],
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
      const secrets = { url: Redacted.make(receiver.origin) }
      yield* withNotifiers(
        { receivers: [{ ...slack, secrets }], lease: Duration.seconds(3) },
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
      const secrets = { url: Redacted.make(receiver.origin) }
      yield* withNotifiers(
        { receivers: [{ ...alertRouter, secrets }] },
        Effect.flatMap(Notifiers, (notifiers) => notifiers.get("alert_router")?.send(firing) ?? Effect.void),
      )
      yield* (yield* Queue.take(receiver.requests)).closed
    }),
  )
})
