import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Queue, Redacted } from "effect"
import { messengerSlack, slackMedium } from "../../src/messenger/messenger.ts"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { incidentText } from "@tocsin/core/heart/notifications/incidentText"
import { answering, startReceiver } from "../Receiver.ts"
import { firing, shared } from "../notifications.ts"

const sending = (url: string) =>
  messengerSlack({ url: Redacted.make(url), timeout: Duration.seconds(15), denyPrivateTargets: false })

describe("a Slack-compatible messenger", () => {
  it.effect("posts the escaped text, and nothing else", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200, {}, "ok"))
      const notifier = yield* sending(`${receiver.origin}/services/T0/B0/x`)
      assert.strictEqual(notifier.kind, "messenger")
      assert.deepStrictEqual(yield* notifier.send(shared), { outcome: "delivered" })
      const { path, body } = yield* Queue.take(receiver.requests)
      assert.strictEqual(path, "/services/T0/B0/x")
      assert.deepStrictEqual(JSON.parse(body), { text: incidentText(shared, slackMedium) })
      assert.include(body, "&lt;rack 4&gt; &amp; others")
    }),
  )

  it.effect("prevents mentions by @ in an output", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200, {}, "ok"))
      const notifier = yield* sending(receiver.origin)
      const summary = "@channel @all,@here (@Everyone) -@alice _@all __@here_ ops@example.com user@all"
      yield* notifier.send({ ...shared, summary })
      const { text } = JSON.parse((yield* Queue.take(receiver.requests)).body) as { text: string }
      assert.notMatch(text, /(^|[^a-zA-Z0-9])@\w/m)
      assert.include(text, "ops@example.com")
      assert.include(text.replaceAll("\u200b", ""), summary)
    }),
  )

  it.effect("is fitted to its length, mentions too", () =>
    Effect.sync(() => {
      const text = incidentText({ ...shared, summary: "@a ".repeat(2_000) }, slackMedium)
      assert.isAtMost(text.length, slackMedium.limit)
      assert.isAbove(text.length, slackMedium.limit - 10)
      assert.notMatch(text, /(^|[^a-zA-Z0-9])@\w/m)
    }),
  )

  it.effect("posts several notifications as one message", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200, {}, "ok"))
      const { sendDigest } = yield* sending(receiver.origin)
      if (sendDigest === undefined) assert.fail("takes no digests")
      assert.deepStrictEqual(yield* sendDigest([shared, firing]), { outcome: "delivered" })
      assert.deepStrictEqual(JSON.parse((yield* Queue.take(receiver.requests)).body), {
        text: digestText([shared, firing], slackMedium),
      })
    }),
  )

  it.effect("can be tried", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(404, {}, "no_service"))
      const receipt = yield* (yield* sending(receiver.origin)).test
      assert.strictEqual(receipt.status, 404)
      assert.strictEqual(receipt.result.outcome, "refused")
      assert.match((yield* Queue.take(receiver.requests)).body, /^\{"text":"TEST: /)
    }),
  )
})
