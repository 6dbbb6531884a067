import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { AvailabilityQuery } from "@tocsin/core/heart/availability/readAvailability"
import { keyOf } from "@tocsin/testing/samples"
import { Effect, Result } from "effect"
import { AGENT, report } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

/** The agent `a`, watched by its heartbeats; shows the seconds of its check `disk` since a moment. */
const open = Effect.gen(function* () {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const begun = yield* Instant.now
  const read = (query: Partial<AvailabilityQuery> = {}) =>
    timeline.front.operations.availability({ phases: true, limit: 100, from: begun, ...query })
  const seconds = Effect.map(Effect.orDie(read()), ({ items: [item] }) =>
    Object.fromEntries(Object.entries(item?.seconds ?? {}).filter(([, count]) => count > 0)),
  )
  return { ...timeline, read, seconds }
})

describe("the availability of a check", () => {
  it.effect("counts its states from its first result, and no data while its agent is dead", () =>
    Effect.gen(function* () {
      const { after, agent, disk, incidents, read, seconds } = yield* open
      yield* after("10 seconds")
      yield* disk.turns("ok")
      yield* after("30 seconds")
      yield* disk.turns("critical")
      yield* after("20 seconds")
      yield* disk.turns("ok")
      assert.deepStrictEqual(yield* seconds, { no_data: 10, ok: 30, critical: 20 })
      yield* after("1 hour")
      yield* incidents.areOpen("a/@heartbeat")
      const dead = yield* seconds
      assert.isAbove(dead["no_data"] ?? 0, 3_000)
      // Its agent is back, and no result of the check has come since.
      yield* agent(AGENT).heartbeats
      yield* after("1 second")
      const later = yield* Instant.now
      yield* after("19 seconds")
      const [rest] = (yield* read({ from: later })).items
      assert.strictEqual(rest?.seconds.no_data, 19)
      assert.deepStrictEqual(yield* seconds, { ...dead, no_data: (dead["no_data"] ?? 0) + 20 })
      yield* disk.turns("ok")
      yield* after("40 seconds")
      const { no_data = 0, ok = 0 } = yield* seconds
      assert.strictEqual(no_data + ok + 20, 10 + 30 + 20 + 3_600 + 20 + 40)
      assert.isAtLeast(ok, (dead["ok"] ?? 0) + 40)
    }),
  )

  it.effect.each(["agent", "own"])(
    "counts as late from when it was found late to its next result, in the incident of its %s",
    (incident) =>
      Effect.gen(function* () {
        const { after, agent, disk, front, incidents, seconds } = yield* open
        yield* disk.turns("ok")
        const request = Result.getOrThrow(
          decodeExpectationsRequest({ checks: [{ check_id: "disk", every: "1m", incident }] }),
        )
        yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
        yield* settled
        for (let minute = 0; minute < 10; minute++) {
          yield* after("1 minute")
          yield* agent(AGENT).heartbeats
        }
        yield* incidents.areOpen(incident === "own" ? "a/disk/@overdue" : "a/@overdue")
        const { late = 0, ok = 0 } = yield* seconds
        assert.isAbove(late, 360)
        assert.isAtLeast(ok, 180)
        assert.strictEqual(late + ok, 600)
        yield* disk.turns("ok")
        yield* after("1 minute")
        assert.deepStrictEqual(yield* seconds, { late, ok: ok + 60 })
      }),
  )

  it.effect("counts as planned what a window covers and is not ok", () =>
    Effect.gen(function* () {
      const { after, disk, front, read, seconds } = yield* open
      const window = { name: "always", cron: "* * * * *", tz: "UTC", for: "1m", match: ["check_id = disk"] }
      const policy = Result.getOrThrow(readPolicy({ windows: [window] }, []))
      yield* front.policy.replace(compilePolicy(policy, []))
      yield* disk.turns("ok")
      yield* after("10 seconds")
      yield* disk.turns("warning")
      yield* after("20 seconds")
      assert.deepStrictEqual(yield* seconds, { ok: 10, planned: 20 })
      const found = (...match: ReadonlyArray<string>) =>
        Effect.map(
          read({ match: match.map((text) => Result.getOrThrow(parseMatcher(text))), limit: 1 }),
          ({ items, next_cursor }) => [items.length, next_cursor],
        )
      yield* report(front, [{ check: "apache", status: "ok" }])
      assert.deepStrictEqual(yield* found("check_id = load"), [0, null])
      // Without matchers, the first page has another check.
      assert.notStrictEqual((yield* read({ limit: 1 })).next_cursor, null)
      assert.deepStrictEqual(yield* found("check_id glob dis*"), [1, null])
      assert.deepStrictEqual(yield* found("agent_id = a", "severity = warning"), [1, null])
      assert.deepStrictEqual(yield* found("agent_id = a", "check_id = disk"), [1, null])
      assert.deepStrictEqual(yield* found("agent_id = a", "check_id = load"), [0, null])
    }),
  )

  it.effect("is read of checks by their names, however often they changed", () =>
    Effect.gen(function* () {
      const { after, disk, front, read } = yield* open
      yield* report(front, [{ check: "apache", status: "ok" }])
      for (let change = 0; change < 30; change++) {
        yield* disk.turns(change % 2 === 0 ? "critical" : "ok")
        yield* after("2 seconds")
      }
      const names = (...ids: ReadonlyArray<string>) =>
        ids.map((id) => ({ agent_id: AGENT, check_id: CheckId.make(id) }))
      const { items, next_cursor } = yield* read({ checks: names("disk", "load", "apache"), limit: 1 })
      assert.deepStrictEqual(
        items.map(({ check_id, seconds, phases }) => [
          check_id,
          seconds.ok,
          seconds.critical,
          phases?.length ?? 0,
        ]),
        [
          ["disk", 30, 30, 30],
          ["apache", 60, 0, 1],
        ],
      )
      assert.isNull(next_cursor)
    }),
  )

  it.effect("is refused for a span that ends in the future, is empty or is too long", () =>
    Effect.gen(function* () {
      const { read } = yield* open
      const now = yield* Instant.now
      const refusal = (query: Partial<AvailabilityQuery>) =>
        Effect.map(Effect.flip(read(query)), ({ message }) => message)
      assert.strictEqual(yield* refusal({ to: Instant.fromMicros(now + 1n) }), "to must not be in the future")
      assert.strictEqual(yield* refusal({ from: now, to: now }), "from must be before to")
      assert.strictEqual(
        yield* refusal({ from: Instant.fromMicros(now - 401n * 86_400_000_000n) }),
        "from must be at most 400 days before to",
      )
    }),
  )
})
