import { assert, describe, it } from "@effect/vitest"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { makeReceiver } from "@tocsin/adapter-notify/policyReceivers"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Layer, Queue, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { firing } from "../../packages/adapter-notify/test/notifications.ts"
import {
  type Fate,
  press,
  startTelephoneService,
} from "../../packages/adapter-notify/test/services/TelephoneService.ts"
import { operate } from "../http/client/call.ts"
import { acceptedAgent, event, push } from "../http/client/TestAgent.ts"
import { Tocsin } from "../http/service/Tocsin.ts"

const CALL = {
  kind: "messenger",
  type: "call",
  account: "AC1",
  from: "+4930123456",
  to: "+4915112345678",
} as const
const PUBLIC = "https://tocsin.example"

const phoneAt = (origin: string) =>
  makeReceiver(
    { ...CALL, acknowledge: Duration.hours(1) },
    { url: Redacted.make(origin), token: Redacted.make("planted") },
    { timeout: Duration.seconds(15), denyPrivateTargets: false },
  ).pipe(Effect.provide(RandomIds.layer))

describe("a call", () => {
  it.live("rings, says what broke, and acknowledges by its key", () =>
    Effect.gen(function* () {
      let port = 0
      const { answers, calls, origin } = yield* startTelephoneService(
        () => ({ press: "1" }),
        (action) => action.replace(PUBLIC, `http://127.0.0.1:${port}`),
      )
      const document = { receivers: { phone: { ...CALL, token_env: "T", acknowledge: "1h" } } }
      const rules = { publicUrl: PUBLIC, policy: Result.getOrThrow(readPolicy(document, [])), notifiers: [] }
      const notifiers = new Map([["phone", yield* phoneAt(origin)]])
      yield* Effect.gen(function* () {
        port = (yield* Tocsin).port
        yield* push(yield* acceptedAgent("web-1"), event({ status: "critical", exit_code: 2 }))
        const { authorization, text, to } = yield* Queue.take(calls)
        assert.strictEqual(to, CALL.to)
        assert.strictEqual(authorization, `Basic ${Buffer.from("AC1:planted").toString("base64")}`)
        assert.match(text, /^…\nTocsin: critical\. web-1\/disk\..* Press 1 to acknowledge\.\n…\nTocsin/)
        const { heard, status } = yield* Queue.take(answers)
        assert.deepStrictEqual([status, heard.text], [200, "Acknowledged for 1 hour. Thank you."])
        const { body } = yield* operate("GET", "/ops/v1/audit?action=incident.acknowledged")
        assert.match(JSON.stringify(body), /"actor":"link:phone"/)
      }).pipe(
        Effect.provide(
          Tocsin.layer(Layer.fresh(MemoryStorage.layer), {
            notifiers,
            rules,
            linkKey: "5a".repeat(32),
            throughApi: true,
          }),
        ),
      )
    }),
  )

  it.live(
    "about three acknowledges those that are not worse or acknowledged, and says why not the others",
    () =>
      Effect.gen(function* () {
        const { calls, origin } = yield* startTelephoneService(() => "silent")
        const document = { receivers: { phone: { ...CALL, token_env: "T", acknowledge: "1h" } } }
        const rules = {
          publicUrl: PUBLIC,
          policy: Result.getOrThrow(readPolicy(document, [])),
          notifiers: [],
        }
        const notifiers = new Map([["phone", yield* phoneAt(origin)]])
        yield* Effect.gen(function* () {
          const { port } = yield* Tocsin
          const agent = yield* acceptedAgent("web-1")
          const [worse, known, left] = ["worse", "known", "left"].map((check_id) => ({
            check_id,
            exit_code: 2,
          }))
          yield* push(
            agent,
            event({ ...worse, status: "warning" }),
            event({ ...known, status: "critical" }),
            event({ ...left, status: "critical" }),
          )
          const { gather, text } = yield* Queue.take(calls)
          assert.match(text, /Tocsin: 3 incidents are firing\. critical\. .* Press 1 to acknowledge all 3\.$/)
          const address = (gather?.["action"] ?? "").replace(PUBLIC, `http://127.0.0.1:${port}`)
          yield* push(agent, event({ ...worse, status: "critical" }))
          const { body } = yield* operate("GET", "/api/v1/incidents?check_id=known")
          const [{ id }] = Object(body).items
          yield* operate("PUT", `/ops/v1/incidents/${id}/acknowledgement`, { json: { for: "2h" } })
          const again = yield* press(address, "2")
          assert.include(again.heard.text, "Press 1 to acknowledge.")
          assert.notInclude(again.heard.text, "web-1/known")
          const { heard, status } = yield* press(address, "1")
          assert.strictEqual(status, 200)
          assert.strictEqual(
            heard.text.replace(/token-\w+/u, "token"),
            "Acknowledged 1 of 3 for 1 hour. " +
              "web-1/worse: Nothing is acknowledged: the incident is critical now, worse than this call said. Look at it in the console. " +
              "web-1/known: It was acknowledged before, by token, for another 2 hours.",
          )
          const late = yield* press(address, "1")
          assert.match(late.heard.text, /^Acknowledged 0 of 3\. /)
        }).pipe(
          Effect.provide(
            Tocsin.layer(Layer.fresh(MemoryStorage.layer), {
              notifiers,
              rules,
              linkKey: "5a".repeat(32),
              throughApi: true,
            }),
          ),
        )
      }),
  )

  it.effect.each([
    ["loses", "deferred", undefined],
    [{ status: 503 }, "deferred", true],
    [{ status: 400 }, "refused", undefined],
    ["silent", "delivered", undefined],
    ["hangs up", "delivered", undefined],
  ] as const)("%s: %s", ([fate, outcome, isAnswered]) =>
    Effect.gen(function* () {
      let next: Fate = fate
      const { answers, calls, origin } = yield* startTelephoneService(() => next)
      const { send } = yield* phoneAt(origin)
      const result = yield* send(firing)
      assert.strictEqual(result.outcome, outcome)
      assert.strictEqual(result.outcome === "deferred" ? result.isAnswered : undefined, isAnswered)
      assert.notMatch(JSON.stringify(result), /planted|4915112345678|127\.0\.0\.1/)
      // A request whose answer was lost is sent again: the phone rings twice.
      next = "silent"
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* send({ ...firing, attempt: 2 }), { outcome: "delivered" })
      const [one, another] = yield* Queue.takeN(calls, 2)
      assert.deepStrictEqual(one, another)
      assert.strictEqual(yield* Queue.size(answers), 0)
    }),
  )
})
