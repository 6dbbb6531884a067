import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Fiber, Logger, Queue, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { alertRouter } from "../src/alertrouter/alertRouter.ts"
import type { BadNotifierSetting } from "../src/http/HttpPost.ts"
import { NameLookup } from "../src/http/Target.ts"
import { messengerSlack, messengerTelegram } from "../src/messenger/messenger.ts"
import { webhook } from "../src/webhook/webhook.ts"
import { firing } from "./notifications.ts"
import { startReceiver } from "./Receiver.ts"
import { testIds } from "./testIds.ts"

const SECRET = "cGxhbnRlZC1zZWNyZXQtb2Ytd2ViaG9va3M="
/** All of these are somewhere in the settings; the host is part of an address too. */
const PLANTED = [
  "planted",
  SECRET,
  Buffer.from("planted-user:planted-password").toString("base64"),
  "cGxhbnRlZC",
  "127.0.0.1",
]

const posting = { timeout: Duration.seconds(15), denyPrivateTargets: false }

type Made = Effect.Effect<Notifier, BadNotifierSetting, Scope.Scope>

/**
 * Every notifier that posts, with a secret in each place that can hold one; `host` follows the
 * userinfo.
 */
const notifiersAt = (scheme: string, host: string): ReadonlyArray<readonly [string, Made]> => {
  const url = Redacted.make(
    `${scheme}://planted-user:planted-password@${host}/planted-path?token=planted-query#planted-fragment`,
  )
  const secrets = [Redacted.make(`whsec_${SECRET}`)]
  return [
    ["webhook", Effect.provide(webhook({ ...posting, url, secrets }), testIds)],
    ["messenger (Slack)", messengerSlack({ ...posting, url })],
    [
      "messenger (Telegram)",
      messengerTelegram({ ...posting, apiUrl: url, token: Redacted.make("1:planted-token"), chat: "@ops" }),
    ],
    ["alert_router", alertRouter({ ...posting, url })],
  ]
}

/**
 * All that becomes visible of an attempt: the results of `send` and `test`, the notifier itself,
 * and the log.
 */
const visible = (make: Made, during: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const logger = Logger.map(Logger.formatJson, (line) => {
      log.push(line)
    })
    const attempts = Effect.gen(function* () {
      const notifier = yield* make
      yield* Effect.logInfo("made", notifier)
      return [inspect(notifier, { depth: 9 }), yield* notifier.send(firing), yield* notifier.test]
    })
    const running = yield* Effect.forkChild(Effect.provide(Effect.scoped(attempts), Logger.layer([logger])))
    yield* during
    const shown = yield* Fiber.join(running)
    assert.isAbove(log.length, 0)
    return JSON.stringify(shown) + log.join("\n")
  })

const assertSecret = (text: string, ...expected: ReadonlyArray<string>) => {
  for (const outcome of expected) assert.include(text, outcome)
  for (const planted of PLANTED) assert.notInclude(text, planted)
}

for (const [name] of notifiersAt("http", "localhost")) {
  const at = (scheme: string, host: string): Made =>
    notifiersAt(scheme, host).find(([other]) => other === name)?.[1] ?? assert.fail(name)

  describe(`addresses and secrets of ${name} stay inside`, () => {
    it.effect.each([200, 302, 400, 401, 404, 429, 500])(
      "when the receiver answers %i and repeats all it was sent",
      (status) =>
        Effect.gen(function* () {
          const receiver = yield* startReceiver((response, { headers, path, body }) => {
            const echo = JSON.stringify({ headers, path, body, parameters: { retry_after: 5 } })
            response
              .writeHead(status, echo.slice(0, 200).replaceAll(/[^ -~]/g, "?"), { location: path })
              .end(echo)
          })
          const text = yield* visible(at("http", `127.0.0.1:${receiver.port}`))
          assertSecret(text, status === 200 ? "delivered" : String(status))
          const { headers, path } = yield* Queue.take(receiver.requests)
          assert.include(JSON.stringify(headers) + path, "planted")
        }),
    )

    it.effect("when the connection is refused", () =>
      Effect.gen(function* () {
        const { port } = yield* Effect.scoped(startReceiver(() => {}))
        assertSecret(yield* visible(at("http", `127.0.0.1:${port}`)), "refused")
      }),
    )

    it.effect("when no answer comes", () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(() => {})
        const wait = Effect.andThen(Queue.take(receiver.requests), TestClock.adjust("15 seconds"))
        assertSecret(
          yield* visible(at("http", `127.0.0.1:${receiver.port}`), Effect.andThen(wait, wait)),
          "15s",
        )
      }),
    )

    it.effect("when the connection breaks", () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver((response) => response.destroy())
        assertSecret(
          yield* visible(at("http", `127.0.0.1:${receiver.port}`)),
          "closed before the receiver answered",
        )
      }),
    )

    it.effect("when TLS fails", () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(() => {})
        assertSecret(yield* visible(at("https", `127.0.0.1:${receiver.port}`)), "TLS")
      }),
    )

    it.effect.each([
      ["cannot be resolved", "does not resolve"],
      ["is refused", "does not call"],
    ])("when its name %s", ([what, expected = ""]) =>
      visible(at("http", "planted.test")).pipe(
        Effect.provideService(NameLookup, (hostname, _options, callback) => {
          const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), {
            code: "ENOTFOUND",
            hostname,
          })
          process.nextTick(() =>
            what === "is refused"
              ? callback(null, [{ address: "169.254.169.254", family: 4 }])
              : callback(error, []),
          )
        }),
        Effect.map((text) => assertSecret(text, expected)),
      ),
    )

    it.effect.each([
      ["ftp", "planted.test"],
      ["http", "169.254.169.254"],
      ["http", "planted.test:99999"],
    ] as const)("when the address is a bad setting (%s)", ([scheme, host]) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.scoped(at(scheme, host)))
        const text = [
          JSON.stringify(error),
          String(error),
          String(error.stack),
          inspect(error, { depth: 9 }),
        ].join()
        // A stack names files of this folder, but holds nothing of the address.
        assertSecret(text, "must")
        assert.notInclude(text, "169.254")
      }),
    )
  })
}
