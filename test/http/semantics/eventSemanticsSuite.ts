import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, agentPath, event, push } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

const critical = { status: "critical", exit_code: 2 }

/**
 * The appearance of results and incidents from outside, in addition to the walk
 * (docs/rules.md#events, docs/rules.md#incidents).
 */
export const eventSemanticsSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("event IDs are deduplicated per agent", () =>
    Effect.gen(function* () {
      const same = event(critical)
      for (const agent of [yield* acceptedAgent(), yield* acceptedAgent()]) {
        assert.deepStrictEqual((yield* push(agent, same)).body, { accepted: 1, deduplicated: 0 })
        assert.deepStrictEqual((yield* push(agent, same)).body, { accepted: 0, deduplicated: 1 })
      }
    }),
  )

  scenario("stored times are the service's own", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const agent = yield* acceptedAgent()
      clock.advance("1.5 seconds")
      yield* push(agent, event({ ...critical, observed_at: "2031-01-01T00:00:00Z" }))
      const now = new Date(clock.currentTimeMillisUnsafe()).toISOString()
      const { body } = yield* operate("GET", agentPath(agent))
      assert.deepInclude(body, { last_seen_at: now })
      for (const [path, field] of [
        ["/api/v1/events/query", "received_at"],
        ["/api/v1/incidents", "opened_at"],
        ["/api/v1/notifiers/outbox", "updated_at"],
      ] as const) {
        assert.strictEqual((yield* itemsOf(path))[0]?.[field], now, path)
      }
      const summary = yield* operate("GET", "/api/v1/system-summary")
      assert.deepInclude(summary.body, {
        generated_at: new Date(clock.currentTimeMillisUnsafe()).toISOString(),
      })
    }),
  )

  scenario("an automatic key that would be too long is hashed", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("a".repeat(128))
      for (const length of [127, 128]) {
        const check_id = "c".repeat(length)
        yield* push(agent, event({ ...critical, check_id }))
        const [incident] = yield* itemsOf(`/api/v1/incidents?check_id=${check_id}`)
        const key = `${agent.agent_id}/${check_id}`
        const hash = createHash("sha256").update(key).digest("hex")
        assert.strictEqual(incident?.["incident_key"], length === 127 ? key : `sha256:${hash}`)
      }
    }),
  )

  scenario("an incident's summary is the first line of an output, up to 512 characters", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const emoji = "\u{1f6a8}"
      for (const [output, summary] of [
        ["one line", "one line"],
        ["first\nsecond", "first"],
        ["first\r\nsecond", "first"],
        ["x".repeat(513), "x".repeat(512)],
        [emoji.repeat(600), emoji.repeat(512)],
      ] as const) {
        const check_id = `check-${output.length}`
        yield* push(agent, event({ ...critical, check_id, output }))
        const [incident] = yield* itemsOf(`/api/v1/incidents?check_id=${check_id}`)
        assert.strictEqual(incident?.["summary"], summary)
      }
    }),
  )

  scenario("a result without output clears the summary, unless it is late or a duplicate", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const check = Effect.map(itemsOf("/api/v1/checks"), ([item]) => item)
      const first = event({ output: "first", observed_at: "2026-03-01T12:00:05Z" })
      yield* push(agent, first)
      yield* push(agent, event({ observed_at: "2026-03-01T12:00:04Z" }), first)
      assert.deepInclude(yield* check, { summary: "first", last_observed_at: "2026-03-01T12:00:05.000Z" })
      yield* push(agent, event({ observed_at: "2026-03-01T12:00:05Z" }))
      assert.notProperty(yield* check, "summary")
    }),
  )

  scenario("the largest possible page", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      for (let batch = 0; batch < 5; batch++) {
        const events = Array.from({ length: 100 }, (_, index) =>
          event({ check_id: `check-${batch}-${index}`, output: "\u{1f6a8}".repeat(2_048) }),
        )
        assert.strictEqual((yield* push(agent, ...events)).status, 202)
      }
      assert.lengthOf(yield* itemsOf("/api/v1/events/query?limit=500"), 500)
      assert.lengthOf(yield* itemsOf("/api/v1/checks?limit=500"), 500)
    }),
  )

  scenario(
    "every enabled notifier gets a notification",
    () =>
      Effect.gen(function* () {
        yield* push(yield* acceptedAgent(), event(critical))
        const told = yield* itemsOf("/api/v1/notifiers/outbox")
        assert.deepStrictEqual(told.map((item) => item["notifier"]).toSorted(), [
          "alert_router",
          "debug",
          "messenger",
          "webhook",
        ])
        for (const item of told) {
          assert.deepStrictEqual(
            yield* itemsOf(`/api/v1/notifiers/outbox?notifier=${String(item["notifier"])}`),
            [item],
          )
        }
      }),
    { rules: { notifiers: ["debug", "webhook", "messenger", "alert_router"] } },
  )
}
