import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Queue, Redacted, Result, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"
import { debug, DebugNotification } from "../src/debug/debug.ts"
import { type BadNotifierSetting, DEFAULT_SEND_TIMEOUT } from "../src/http/HttpPost.ts"
import {
  parseSecrets,
  signatureHeaders,
  webhook as makeWebhook,
  WebhookMessage,
} from "../src/webhook/webhook.ts"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import { at, firing } from "./notifications.ts"
import { answering, startReceiver } from "./Receiver.ts"
import { testIds } from "./testIds.ts"

const page = readFileSync(new URL("../../../docs/notifications.md", import.meta.url), "utf8")

const examples = new Map(
  Array.from(page.matchAll(/<!-- example: (.+) -->\n```json\n([^]*?)```/g), ([, name, json]) => [name, json]),
)
const example = (name: string): unknown =>
  JSON.parse(examples.get(name) ?? assert.fail(`no example: ${name}`))

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const posting = { denyPrivateTargets: false, timeout: DEFAULT_SEND_TIMEOUT }
type Form = (url: Redacted.Redacted) => Effect.Effect<Notifier, BadNotifierSetting, Scope.Scope | Ids>
const webhook: Form = (url) => makeWebhook({ ...posting, url, secrets: [Redacted.make(secret)] })

/** The request that a receiver gets when a notifier of this form is used so. */
const posted = (form: Form, use: (notifier: Notifier) => Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Number(firing.created_at / 1_000n))
    const receiver = yield* startReceiver(answering(200))
    const made = form(Redacted.make(receiver.origin))
    yield* Effect.scoped(Effect.flatMap(made, use)).pipe(Effect.provide(testIds))
    const sent: unknown = JSON.parse((yield* Queue.take(receiver.requests)).body)
    return sent
  })

describe("the table of targets in docs/notifications.md", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| "))

  it.each(Object.entries(receiverTypes))(
    "has the kind and the keys of %s",
    (type, { kind, needs, takes }) => {
      const [row = assert.fail("no row")] = rows.filter((line) => line.includes(`, [\`${type}\`](`))
      const cells = row.split(" | ")
      assert.include(cells[1], `\`${kind}\``)
      const keys = Array.from((cells[2] ?? "").matchAll(/`([a-z_]+)(?:…|: [^`]*)`/g), ([, key]) => key)
      assert.sameMembers(keys, [...needs, ...takes])
    },
  )
})

describe("the sections of docs/notifications.md", () => {
  // The system of a reader draws what a browser notifies.
  const isDrawn = (type: string) => type !== "browser"
  const pictures = Object.keys(receiverTypes).filter(isDrawn).concat("slack", "telegram", "alert_router")

  it.each(pictures)("have a picture: %s", (name) => {
    assert.include(page, `](messages/${name}.png)`)
    assert.isTrue(existsSync(new URL(`../../../docs/messages/${name}.png`, import.meta.url)))
  })

  it.each(Object.keys(receiverTypes))("have the settings to paste: %s", (type) => {
    assert.match(page, new RegExp(`^receivers: \\{ \\w+: \\{ kind: \\w+, type: ${type}, `, "m"))
  })
})

describe("an example in docs/notifications.md", () => {
  it("is one of these", () => {
    assert.deepStrictEqual(Array.from(examples.keys()), [
      "webhook firing",
      "webhook test",
      "signature",
      "debug",
    ])
  })

  it.each([
    ["webhook firing", WebhookMessage],
    ["webhook test", WebhookMessage],
    ["debug", DebugNotification],
  ] as const)("decodes with its schema, nothing left over: %s", (name, schema) => {
    const decode = Schema.decodeUnknownResult<Schema.ConstraintDecoder<unknown>>(schema, {
      onExcessProperty: "error",
    })
    const decoded = decode(example(name))
    assert.isTrue(Result.isSuccess(decoded), String(Result.isFailure(decoded) ? decoded.failure : ""))
  })

  it.effect.each([
    ["webhook firing", webhook, (notifier: Notifier) => notifier.send(firing)],
    ["webhook test", webhook, (notifier: Notifier) => notifier.test],
  ] as const)("shows the payload: %s", ([name, form, use]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* posted(form, use), example(name))
    }),
  )

  it.effect("shows the log line: debug", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const logger = Logger.map(Logger.formatStructured, ({ annotations }) => {
        lines.push(annotations)
      })
      yield* Effect.provide(debug.send(firing), Logger.layer([logger]))
      assert.deepStrictEqual(lines, [example("debug")])
    }),
  )

  it("is a vector that both we and the published library compute: signature", () => {
    const decode = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))
    const { secret: text = "", body = "", ...headers } = decode(example("signature"))
    const sentAt = at("2026-01-31T08:30:01Z")
    const keys = Result.getOrThrow(parseSecrets([Redacted.make(text)]))
    const id = headers["webhook-id"] ?? ""
    assert.deepStrictEqual(signatureHeaders(keys, { id, at: sentAt, body }), headers)
    const published = new Webhook(text).sign(id, new Date(Number(sentAt / 1_000n)), body)
    assert.strictEqual(published, headers["webhook-signature"])
  })
})
