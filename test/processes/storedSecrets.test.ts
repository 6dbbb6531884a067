import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { enroll, report } from "./Agent.ts"
import { type Base, OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { startReceiver, type WebhookReceiver } from "./WebhookReceiver.ts"

const [OLD, NEW] = ["0a".repeat(32), "b1".repeat(32)]
const POLICY = { receivers: { hook: { kind: "webhook", secrets: "hook" } }, routes: [{ to: ["hook"] }] }

const put = Effect.fnUntraced(function* (base: Base, receiver: WebhookReceiver, sender: string) {
  const { SERVICE_WEBHOOK_SECRET: secret, SERVICE_WEBHOOK_URL: url } = receiver.settings(sender)
  yield* operate(base, "PUT", "/ops/v1/secrets/hook", { json: { values: { url, secret } } })
})

const hookAt = (base: Base) =>
  Effect.map(operate(base, "GET", "/ops/v1/policy"), ({ text }) => JSON.parse(text).receivers[0])

const isUsable = (base: Base, isWanted: boolean) =>
  until(
    `the receiver is ${isWanted ? "usable" : "unavailable"}`,
    Effect.map(hookAt(base), ({ unavailable }) => (unavailable === undefined) === isWanted),
  )

describe("stored secrets", () => {
  it.live("count on every server within seconds, survive a crash and another key, and are repaired", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 204 }))
      const scratch = yield* scratchPostgres
      const cwd = yield* scratchFolder
      const optionsOf = (keys: string) => ({
        cwd,
        environment: {
          SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
          SERVICE_WATCH_LOOPBACK: "true",
          SERVICE_SECRETS_KEY: keys,
          DATABASE_URL: Redacted.value(scratch.url),
        },
      })
      // One server knows the new key already.
      const [first, second] = yield* Effect.all(
        [startServer(optionsOf(OLD)), startServer(optionsOf(`${OLD},${NEW}`))],
        { concurrency: 2 },
      )
      const senders = Effect.sync(() => receiver.arrivals.map(({ sender }) => sender))
      const arrives = (sender: string) =>
        until(
          `a message of ${sender} has arrived`,
          Effect.map(senders, (all) => all.includes(sender)),
        )
      yield* put(first, receiver, "a")
      yield* operate(second, "PUT", "/ops/v1/policy", { json: POLICY })
      yield* isUsable(first, true)
      const agent = yield* enroll(first, "web-1")
      yield* report(first, agent, { check_id: "disk", status: "critical" })
      yield* arrives("a")

      // The server that answers uses other secrets immediately, and the other one within 5 s.
      yield* put(second, receiver, "b")
      yield* second.kill
      let reported = 0
      yield* until(
        "the other server uses them",
        Effect.gen(function* () {
          yield* report(first, agent, { check_id: `load-${(reported += 1)}`, status: "critical" })
          yield* Effect.sleep("300 millis")
          return (yield* senders).includes("b")
        }),
        "10 seconds",
      )

      const { sql } = yield* scratch.replica({ maxConnections: 1 })
      const keyIds = Effect.map(
        sql<{ readonly key_id: string }>`SELECT key_id FROM receiver_secrets`,
        (rows) => rows.map(({ key_id }) => key_id).join(),
      )
      const former = yield* keyIds
      const rotated = yield* startServer(optionsOf(`${NEW},${OLD}`))
      yield* until(
        "they are encrypted again",
        Effect.map(keyIds, (now) => now !== former),
      )
      yield* isUsable(rotated, true)
      // A server that has only the former key lost them.
      yield* isUsable(first, false)
      const listed = yield* operate(first, "GET", "/ops/v1/secrets")
      assert.deepInclude(JSON.parse(listed.text).items[0], { receiver: "hook", unreadable: true })
      yield* first.kill

      yield* sql`UPDATE receiver_secrets SET ciphertext = 'AAAA'`
      yield* isUsable(rotated, false)
      const test = yield* operate(rotated, "POST", "/ops/v1/notifiers/hook/test")
      assert.include(test.text, "names hook, which no key of SERVICE_SECRETS_KEY opens")
      yield* put(rotated, receiver, "c")
      yield* isUsable(rotated, true)
      yield* report(rotated, agent, { check_id: "swap", status: "critical" })
      yield* arrives("c")
      for (const { fault } of receiver.arrivals) assert.isUndefined(fault)
    }),
  )
})
