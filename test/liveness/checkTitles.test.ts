import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { incidentText, subjectOf } from "@tocsin/core/heart/notifications/incidentText"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

const DISK = { agent_id: AGENT, check_id: CheckId.make("disk") }

/** The check `disk`, its declared labels, and the title of an operator. */
const open = Effect.fnUntraced(function* () {
  const timeline = yield* openTimeline({ deadAfter: Duration.days(30), process: { keepsHouse: true } })
  const { front, service } = timeline
  const declares = (labels: object) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks: [{ check_id: "disk", labels }] }))
    return Effect.orDie(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })).pipe(
      Effect.tap(settled),
    )
  }
  const titles = (title?: string) =>
    Effect.map(front.operations.titleCheck(DISK, title), ({ count }) => count)
  const shown = Effect.map(
    Effect.orDie(front.operations.expectedChecks({ is_overdue: false, limit: 10 })),
    ({ items }) => items.map(({ labels, title }) => ({ labels, title })),
  )
  const messages = () => service.receivers.arrivals.map(({ notification }) => notification)
  return { ...timeline, declares, messages, shown, titles }
})

describe("the title of a check", () => {
  it.effect("is an operator's, whatever its agent declares, or else its label, and leaves the labels", () =>
    Effect.gen(function* () {
      const { after, declares, disk, front, shown, titles } = yield* open()
      assert.strictEqual((yield* Effect.flip(titles("Disk")))._tag, "NotFound")
      yield* disk.turns("ok")
      const first = { title: ` ${"Ä".repeat(101)}`, team: "db" }
      yield* declares(first)
      assert.deepStrictEqual(yield* shown, [{ labels: first, title: "Ä".repeat(100) }])
      assert.strictEqual(yield* titles("Disk of the shop"), 1)
      assert.strictEqual(yield* titles("Disk of the shop"), 0)
      assert.deepStrictEqual(yield* shown, [{ labels: first, title: "Disk of the shop" }])
      yield* after("2 minutes")
      yield* declares({ title: "Another" })
      assert.deepStrictEqual(yield* shown, [{ labels: { title: "Another" }, title: "Disk of the shop" }])
      yield* after("2 minutes")
      yield* declares({})
      assert.deepStrictEqual(yield* shown, [{ labels: {}, title: "Disk of the shop" }])
      assert.strictEqual(yield* titles(), 1)
      assert.deepStrictEqual(yield* shown, [{ labels: {}, title: null }])
      yield* declares({ title: " " })
      assert.deepStrictEqual(yield* shown, [{ labels: { title: " " }, title: null }])
      const { items } = yield* Effect.orDie(front.queries.audit({ action: "check.titled", limit: 10 }))
      assert.deepStrictEqual(
        items.map(({ parameters }) => parameters),
        [{ title: null }, { title: "Disk of the shop" }],
      )
    }),
  )

  it.effect("names its incident in messages, as it is at each attempt, and the id has a line", () =>
    Effect.gen(function* () {
      const { after, disk, messages, titles } = yield* open()
      yield* disk.turns("ok")
      yield* titles("Disk of the shop")
      yield* disk.turns("critical", { output: "DISK CRITICAL - full" })
      yield* after("1 minute")
      yield* titles()
      yield* disk.turns("ok")
      yield* after("1 minute")
      assert.deepStrictEqual(
        messages().map((one) => subjectOf(one)),
        ["CRITICAL: Disk of the shop: full", "RESOLVED: a/disk: ok again after 1 min"],
      )
      const [text = ""] = messages().map((one) =>
        incidentText(one, { limit: 10_000, escape: (given) => given }),
      )
      assert.include(text, "CRITICAL: Disk of the shop\nfull\n")
      assert.include(text, "\nCheck: a/disk")
      yield* disk.turns("critical", { key: "site" })
      yield* titles("Disk of the shop")
      yield* after("1 minute")
      assert.strictEqual(
        messages()
          .map((one) => subjectOf(one))
          .at(-1),
        "CRITICAL: site",
      )
    }),
  )

  it.effect("is its agent's for a silent agent, and its id has a line", () =>
    Effect.gen(function* () {
      const { after, agent, front, service } = yield* openTimeline({
        deadAfter: Duration.minutes(10),
        process: { keepsHouse: true },
      })
      yield* agent().heartbeats
      const { count } = yield* front.operations.titleAgent(AGENT, "Server of the shop")
      assert.strictEqual(count, 1)
      yield* after("12 minutes")
      const [message = assert.fail("no message")] = service.receivers.arrivals.map(
        ({ notification }) => notification,
      )
      const text = incidentText(message, { limit: 10_000, escape: (given) => given })
      assert.include(text, "CRITICAL: Server of the shop\n")
      assert.include(text, "\nAgent: a\n")
      const { items } = yield* Effect.orDie(
        front.operations.incidents({ sort: "status", direction: "desc", limit: 10 }),
      )
      assert.deepStrictEqual(
        items.map(({ title }) => title),
        ["Server of the shop"],
      )
    }),
  )
})
