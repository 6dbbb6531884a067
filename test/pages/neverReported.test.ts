import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import type { AvailabilityQuery } from "@tocsin/core/heart/availability/readAvailability"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

const pages = {
  jobs: {
    title: "Jobs",
    groups: [
      {
        title: "All",
        lines: [
          { name: "Backup", match: ["check_id = backup"] },
          { name: "Night", match: ["label:kind = nightly"] },
          { name: "All", match: ["agent_id = a"] },
        ],
      },
    ],
  },
}

/** The agent `a`, alive, and the page of its jobs. */
const open = Effect.gen(function* () {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { after, agent, front, service } = timeline
  const policy = (more: object = {}) =>
    front.policy.replace(compilePolicy(Result.getOrThrow(readPolicy({ pages, ...more }, [])), []))
  yield* policy()
  const found = yield* PublicPages.make.pipe(
    Effect.provideService(Storage, front.storage),
    Effect.provideService(Hashing, service.hashing),
    Effect.provideService(PolicyInForce, front.policy),
    Effect.provideService(RuleSettings, front.rules),
  )
  const lines = Effect.gen(function* () {
    const page = yield* found.find("jobs")
    if (typeof page !== "object" || !("body" in page)) return assert.fail("the page is not read")
    return page.body.groups.flatMap((group) => group.lines)
  })
  const states = Effect.map(lines, (all) => all.map(({ state }) => state).join(" "))
  const declare = (...checks: ReadonlyArray<object>) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete: true }))
    return Effect.andThen(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request }), settled)
  }
  const alive = Effect.fnUntraced(function* (minutes: number) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* agent().heartbeats
      yield* after("1 minute")
    }
  })
  const page = (more: Partial<AvailabilityQuery>) =>
    front.operations.availability({ limit: 100, phases: false, ...more })
  const read = (more: Partial<AvailabilityQuery> = {}) => Effect.map(page(more), ({ items }) => items)
  return { ...timeline, alive, declare, lines, page, policy, read, states }
})

const BACKUP_ID = CheckId.make("backup")
const EXCEPT_D = { field: "check_id", op: "!=", value: "d" } as const
const BACKUP = { check_id: "backup", every: "1m", severity: "critical", labels: { kind: "nightly" } }
const MILD = { check_id: "mild", every: "1m", severity: "warning", labels: { kind: "nightly" } }

describe("a check that is late and never reported", () => {
  it.effect(
    "is down or degraded within 16 s, by name and by label, and in the bar from when it was late",
    () =>
      Effect.gen(function* () {
        const { after, agent, alive, declare, lines, read, states } = yield* open
        yield* declare(BACKUP)
        assert.strictEqual(yield* states, "no_data no_data no_data")
        yield* alive(2)
        assert.strictEqual(yield* states, "no_data no_data no_data")
        assert.deepStrictEqual(yield* read(), [])
        let found = "no_data no_data no_data"
        for (let waited = 0; waited < 16 && found.startsWith("no_data"); waited += 1) {
          yield* after("15 seconds")
          yield* agent().heartbeats
          found = yield* states
        }
        assert.strictEqual(found, "down down down")
        const [item] = yield* read()
        assert.deepInclude(item, { check_id: BACKUP_ID, percent: 0 })
        yield* alive(5)
        const [line] = yield* lines
        assert.deepInclude(line?.days.at(-1), { state: "down" })
        assert.strictEqual(line?.availability, 0)
        // Its first result ends that, before the page finds its checks again.
        yield* agent().reports({ check: "backup", status: "ok" })
        yield* after("16 seconds")
        assert.strictEqual(yield* states, "operational operational operational")
        yield* alive(5)
        const [bar] = yield* lines
        assert.deepInclude(bar?.days.at(-1), { state: "down" })
        assert.isAbove(bar?.availability ?? 0, 0)
      }).pipe(Effect.orDie),
  )

  it.effect("is degraded where its severity is warning, and stays so under a silence", () =>
    Effect.gen(function* () {
      const { after, alive, declare, front, states } = yield* open
      yield* declare(MILD)
      yield* alive(6)
      assert.strictEqual(yield* states, "no_data degraded degraded")
      yield* front.operations.silence({
        matchers: [{ field: "agent_id", op: "=", value: "a" }],
        for: Duration.hours(1),
        comment: "known",
      })
      yield* after("1 minute")
      assert.strictEqual(yield* states, "no_data degraded degraded")
    }).pipe(Effect.orDie),
  )

  it.effect("is in maintenance while a window covers it, and planned", () =>
    Effect.gen(function* () {
      const { alive, declare, policy, read, states } = yield* open
      yield* declare(BACKUP)
      yield* alive(6)
      const window = { name: "always", cron: "* * * * *", tz: "UTC", for: "1m", match: ["check_id = backup"] }
      yield* policy({ windows: [window] })
      yield* alive(1)
      assert.strictEqual(yield* states, "maintenance maintenance maintenance")
      const [item] = yield* read()
      assert.deepInclude(item?.seconds, { late: 0 })
    }).pipe(Effect.orDie),
  )

  it.effect("is on no page once it is deleted, or expected no longer", () =>
    Effect.gen(function* () {
      const { after, alive, declare, front, read, states } = yield* open
      yield* declare(BACKUP, MILD)
      yield* alive(6)
      assert.strictEqual(yield* states, "down down down")
      yield* declare(MILD)
      yield* after("16 seconds")
      assert.strictEqual(yield* states, "no_data degraded degraded")
      yield* front.operations.removeCheck({ agent_id: AGENT, check_id: CheckId.make("mild") })
      yield* after("16 seconds")
      assert.strictEqual(yield* states, "no_data no_data no_data")
      assert.deepStrictEqual(yield* read(), [])
    }).pipe(Effect.orDie),
  )

  it.effect("is down, and has no data, from when its agent dies", () =>
    Effect.gen(function* () {
      const { after, alive, declare, incidents, read, states } = yield* open
      yield* declare(BACKUP)
      yield* alive(6)
      yield* after("1 hour")
      yield* incidents.areOpen("a/@heartbeat", "a/@overdue")
      assert.strictEqual(yield* states, "down down down")
      const before = yield* read()
      yield* after("10 minutes")
      const [item] = yield* read()
      assert.strictEqual(item?.seconds.late, before[0]?.seconds.late)
    }).pipe(Effect.orDie),
  )

  for (const isLateBefore of [true, false])
    it.effect(`is late once its agent is back, ${isLateBefore ? "as before" : "and not before"}`, () =>
      Effect.gen(function* () {
        const { after, alive, declare, incidents, lines, read, states } = yield* open
        yield* declare(MILD)
        yield* alive(isLateBefore ? 6 : 1)
        yield* after("1 hour")
        yield* incidents.areOpen("a/@heartbeat", ...(isLateBefore ? ["a/@overdue"] : []))
        assert.strictEqual(yield* states, isLateBefore ? "no_data down down" : "no_data no_data no_data")
        const [before] = yield* read()
        yield* alive(6)
        assert.strictEqual(yield* states, "no_data degraded degraded")
        const [item] = yield* read()
        assert.isAbove(item?.seconds.late ?? 0, (before?.seconds.late ?? 0) + 50)
        assert.deepInclude((yield* lines)[1]?.days.at(-1), { state: isLateBefore ? "down" : "degraded" })
      }).pipe(Effect.orDie),
    )

  it.effect("has its place by name in pages of the availability, in both directions", () =>
    Effect.gen(function* () {
      const { agent, alive, declare, page: pageOf, read } = yield* open
      yield* agent().reports(
        { check: "b", status: "ok" },
        { check: "d", status: "critical" },
        { check: "x", status: "ok" },
      )
      yield* declare(...["a", "b", "c", "e", "y"].map((check_id) => ({ check_id, every: "1m" })))
      yield* alive(6)
      const names = ["a", "b", "c", "d", "e", "x", "y"]
      const idsOf = (items: ReadonlyArray<{ readonly check_id: string }>) =>
        items.map(({ check_id }) => check_id)
      assert.deepStrictEqual(idsOf(yield* read()), names)
      for (const match of [[], [EXCEPT_D]]) {
        const wanted = names.filter((name) => match.length === 0 || name !== "d")
        for (const limit of [1, 2, 3]) {
          const found: Array<string> = []
          let cursor: string | undefined
          let last: string | null = null
          do {
            const page = yield* pageOf({ limit, cursor, match })
            found.push(...idsOf(page.items))
            last = page.prev_cursor
            cursor = page.next_cursor ?? undefined
          } while (cursor !== undefined)
          assert.deepStrictEqual(found, wanted)
          const back = yield* pageOf({ limit, back: true, match, cursor: last ?? undefined })
          const at = wanted.length - (wanted.length % limit || limit)
          assert.deepStrictEqual(idsOf(back.items), wanted.slice(Math.max(0, at - limit), at))
        }
      }
      const named = {
        checks: ["y", "a", "none", "b"].map((id) => ({ agent_id: AGENT, check_id: CheckId.make(id) })),
      }
      assert.deepStrictEqual(idsOf(yield* read(named)), ["y", "a", "b"])
      assert.deepStrictEqual(
        idsOf(yield* read({ from: Instant.minus(yield* Instant.now, Duration.minutes(1)) })),
        names,
      )
    }).pipe(Effect.orDie),
  )
})
