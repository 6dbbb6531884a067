import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Queue, Redacted } from "effect"
import { messengerTelegram } from "../../src/messenger/messenger.ts"
import { firing, shared } from "../notifications.ts"
import { answering, startReceiver } from "../Receiver.ts"

const TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"

const sending = (apiUrl: string, options: { readonly token?: string; readonly chat?: string } = {}) =>
  messengerTelegram({
    apiUrl: Redacted.make(apiUrl),
    token: Redacted.make(options.token ?? TOKEN),
    chat: options.chat ?? "-1001234567890",
    timeout: Duration.seconds(15),
    denyPrivateTargets: false,
  })

/** A refusal of the Bot API. */
const refusal = (error_code: number, description: string, parameters?: Record<string, number>) =>
  answering(
    error_code,
    { "content-type": "application/json" },
    JSON.stringify({ ok: false, error_code, description, parameters }),
  )

describe("a Telegram messenger", () => {
  it.effect("sends plain text to its chat, in the bot's name", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200, {}, '{"ok":true,"result":{}}'))
      const notifier = yield* sending(`${receiver.origin}/telegram/`)
      assert.deepStrictEqual(yield* notifier.send(shared), { outcome: "delivered" })
      const { path, body } = yield* Queue.take(receiver.requests)
      assert.strictEqual(path, `/telegram/bot${TOKEN}/sendMessage`)
      const message: Record<string, unknown> = JSON.parse(body)
      assert.strictEqual(message["chat_id"], "-1001234567890")
      assert.include(String(message["text"]), "WARNING: storage <rack 4> & others\n")
      assert.deepStrictEqual(Object.keys(message).toSorted(), ["chat_id", "link_preview_options", "text"])
    }),
  )

  it.effect("waits as long as retry_after says", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(
        refusal(429, "Too Many Requests: retry after 35", { retry_after: 35 }),
      )
      const result = yield* (yield* sending(receiver.origin)).send(firing)
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error: "The receiver answered 429 (Too Many Requests).",
        retryAfterSeconds: 35,
      })
    }),
  )

  it.effect.each([
    "",
    "{",
    "null",
    '{"parameters":{"retry_after":-1}}',
    '{"parameters":{"retry_after":"35"}}',
  ])("bears an answer that is not of the Bot API: %j", (body) =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(429, {}, body))
      const result = yield* (yield* sending(receiver.origin)).send(firing)
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error: "The receiver answered 429 (Too Many Requests).",
      })
    }),
  )

  it.effect.each([
    [400, "Bad Request: chat not found"],
    [401, "Unauthorized"],
    [403, "Forbidden: bot was kicked from the group chat"],
    [404, "Not Found"],
  ] as const)("is refused with %i, whose description stays outside", ([status, description]) =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(refusal(status, `${description} [from outside]`))
      const result = yield* (yield* sending(receiver.origin)).send(firing)
      assert.strictEqual(result.outcome, "refused")
      assert.notInclude(JSON.stringify(result), "from outside")
    }),
  )

  it.effect("can be tried", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      assert.deepStrictEqual(yield* (yield* sending(receiver.origin)).test, {
        status: 200,
        result: { outcome: "delivered" },
      })
      assert.include((yield* Queue.take(receiver.requests)).body, "TEST: ")
    }),
  )

  it.effect.each([
    ["token", { token: "" }],
    ["token", { token: "110201543:AA\n" }],
    ["token", { token: "two words" }],
    ["chat", { chat: "" }],
    ["chat", { chat: "my channel" }],
  ] as const)("needs a %s that can be one: %j", ([setting, options]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(sending("https://api.telegram.test", options))
      assert.strictEqual(error.setting, setting)
    }),
  )

  it.effect("cannot be led elsewhere by its token", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      yield* (yield* sending(receiver.origin, { token: "1:a/../../x?y#z" })).send(firing)
      const { path } = yield* Queue.take(receiver.requests)
      assert.strictEqual(path, "/bot1:a%2F..%2F..%2Fx%3Fy%23z/sendMessage")
    }),
  )
})
