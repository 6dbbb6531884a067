import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { keyOf } from "@tocsin/testing/samples"
import { type Duration, Effect, Result } from "effect"
import { AGENT, heartbeat } from "../service/agents.ts"
import { whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { type Clocks, onShiftedClock } from "../service/ShiftedClock.ts"
import { openIncidents, openTimeline } from "../service/Timeline.ts"

/** The agent `a` has a clock that is right, and its own clock dates its results. */
const open = Effect.fnUntraced(function* ({ clock, rightNow }: Clocks) {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { after, agent, disk, front, service } = timeline
  yield* disk.turns("ok")
  const declares = (...checks: ReadonlyArray<object>) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks }))
    const declaration = front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
    return Effect.andThen(Effect.orDie(declaration), settled)
  }
  const minutesOf = (each: Effect.Effect<void>) =>
    Effect.fnUntraced(function* (minutes: number) {
      for (let minute = 0; minute < minutes; minute++) {
        yield* after("1 minute")
        yield* each
      }
    })
  return {
    ...timeline,
    declares,
    /** Lets minutes pass in which the agent sends heartbeats, and no results. */
    heartbeats: minutesOf(agent().heartbeats),
    /** Lets minutes pass in which the check reports. */
    reports: minutesOf(Effect.flatMap(rightNow, (observedAt) => disk.turns("ok", { observedAt }))),
    /** Lets something happen while the clock of the service is ahead, for longer than between two service heartbeats. */
    whileAhead: Effect.fnUntraced(function* (by: Duration.Input, act: Effect.Effect<void>) {
      clock.setAhead(by)
      yield* act
      yield* after("6 seconds")
      clock.setBack(by)
    }),
    expectation: () => service.rows().expectations.get("a/disk"),
  }
})

type Opened = Effect.Success<ReturnType<typeof open>>

const test = (name: string, run: (opened: Opened, clocks: Clocks) => Effect.fn.Return<void>) =>
  it.effect(name, () =>
    onShiftedClock((clocks) =>
      Effect.flatMap(open(clocks), (opened) => Effect.gen(() => run(opened, clocks))),
    ),
  )

const DISK = { check_id: "disk", every: "1m" }
const NAME = { agent_id: AGENT, check_id: CheckId.make("disk") }

describe("after a clock that was ahead is set back", () => {
  test("an agent that was last seen before that dies in time", function* (opened) {
    const { after, agent, heartbeats, incidents, whileAhead } = opened
    yield* whileAhead("1 day", heartbeats(1))
    yield* agent().is("alive")
    yield* after("130 seconds")
    yield* agent().is("stale")
    yield* after("190 seconds")
    yield* incidents.areOpen("a/@heartbeat")
  })

  test("a check that left its agent's list then is withdrawn in time", function* (opened, { rightNow }) {
    const { disk, front, heartbeats, incidents, whileAhead } = opened
    const lists = Effect.fnUntraced(function* (...ids: ReadonlyArray<string>) {
      const checks = ids.map((check_id) => ({ check_id }))
      const as_of = Instant.format(yield* rightNow)
      const request = Result.getOrThrow(decodeExpectationsRequest({ complete: true, as_of, checks }))
      yield* Effect.orDie(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request }))
      yield* settled
    })
    yield* lists("disk", "load")
    yield* disk.turns("critical", { observedAt: yield* rightNow })
    yield* heartbeats(1)
    yield* whileAhead("1 day", lists("load"))
    yield* heartbeats(1)
    yield* incidents.areOpen("a/disk")
    yield* heartbeats(2)
    yield* incidents.areOpen()
  })

  test("a blocked key shows again when it was last seen", function* ({ after, front, whileAhead }) {
    const bad = AgentId.make("bad")
    const heartbeats = heartbeat(front, bad)
    yield* whileAhead(
      "1 day",
      Effect.orDie(Effect.asVoid(Effect.andThen(heartbeats, front.admission.block(bad)))),
    )
    yield* after("15 seconds")
    assert.strictEqual((yield* Effect.orDie(Effect.flip(heartbeats)))._tag, "AgentBlocked")
    const { items } = yield* Effect.orDie(front.queries.blacklist({ limit: 10 }))
    assert.deepStrictEqual(
      items.map(({ last_seen_at }) => last_seen_at),
      [yield* Instant.now],
    )
  })
})

describe("after a clock that was ahead is set back, a check that stops is overdue in time", () => {
  test("if it was looked at while the clock was ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, reports, whileAhead } = opened
    yield* declares(DISK)
    yield* whileAhead("1 day", reports(4))
    yield* reports(2)
    yield* heartbeats(3)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if its next time by cron was looked at while the clock was ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, whileAhead } = opened
    yield* declares({ check_id: "disk", cron: "0 * * * *", tz: "UTC", grace: "5m" })
    yield* whileAhead("3 hours", heartbeats(2))
    // It is 08:32: the result of 09:00 is due at 09:05.
    yield* heartbeats(32)
    yield* incidents.areOpen()
    yield* heartbeats(2)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/disk/@overdue")
  })

  test("if it was declared while the clock was ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, whileAhead } = opened
    yield* whileAhead("1 day", declares(DISK))
    yield* heartbeats(3)
    yield* incidents.areOpen()
    yield* heartbeats(1)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if it reported while the clock was ahead, and was declared after that", function* (opened) {
    const { after, heartbeats, declares, incidents, reports, whileAhead } = opened
    yield* whileAhead("1 day", reports(1))
    yield* after("1 minute")
    yield* declares(DISK)
    yield* heartbeats(4)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if other terms were declared while it was overdue and the clock ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, reports, whileAhead } = opened
    yield* declares(DISK)
    yield* heartbeats(4)
    yield* incidents.areOpen("a/@overdue")
    yield* whileAhead("1 day", declares({ ...DISK, severity: "warning" }))
    yield* reports(1)
    yield* incidents.areOpen()
    yield* heartbeats(3)
    yield* after("20 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if it last reported while the clock was ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, reports, whileAhead } = opened
    yield* declares(DISK)
    yield* whileAhead("1 hour", reports(1))
    yield* heartbeats(3)
    yield* incidents.areOpen()
    yield* heartbeats(1)
    yield* after("15 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if its agent came back while the clock was ahead", function* (opened) {
    const { after, heartbeats, declares, incidents, whileAhead } = opened
    yield* declares(DISK)
    yield* after("10 minutes")
    yield* incidents.areOpen("a/@heartbeat")
    yield* whileAhead("1 day", heartbeats(1))
    yield* heartbeats(3)
    yield* after("20 seconds")
    yield* incidents.areOpen("a/@overdue")
  })

  test("if a start is the first to notice", function* (opened, { clock }) {
    const { after, declares, front, reports, service } = opened
    yield* declares(DISK)
    clock.setAhead("1 day")
    yield* reports(4)
    yield* whileTimePasses(front.close)
    clock.setBack("1 day")
    yield* after("1 minute")
    const second = yield* service.open("second", { keepsHouse: true })
    for (let minute = 0; minute < 4; minute++) {
      yield* Effect.orDie(heartbeat(second))
      yield* after("1 minute")
    }
    const incidents = yield* openIncidents(second)
    assert.deepStrictEqual(
      incidents.map(({ incident_key }): string => incident_key),
      ["a/@overdue"],
    )
  })
})

describe("after a clock that was ahead is set back, for an agent that followed it,", () => {
  /** Lets the agent report while its clock and that of the service are a day ahead. */
  const freeze = ({ agent, disk, whileAhead }: Opened) =>
    whileAhead("1 day", Effect.andThen(agent().heartbeats, disk.turns("ok")))

  test("resetting the clock of a check makes its results count again", function* (opened) {
    const { after, disk, front, incidents } = opened
    yield* freeze(opened)
    yield* after("15 seconds")
    yield* disk.turns("critical")
    yield* incidents.areOpen()
    assert.deepStrictEqual(yield* Effect.orDie(front.operations.resetClock(NAME)), { count: 1 })
    yield* disk.turns("critical")
    yield* incidents.areOpen("a/disk")
    assert.deepStrictEqual(yield* Effect.orDie(front.operations.resetClock(NAME)), { count: 0 })
  })

  test("the explanation of a check shows by how much its clock is ahead", function* (opened) {
    yield* freeze(opened)
    yield* opened.after("1 hour")
    const { age_seconds, reasons, skew_seconds } = yield* Effect.orDie(opened.front.operations.explain(NAME))
    assert.strictEqual(age_seconds, 0)
    assert.strictEqual(skew_seconds, -82_794)
    assert.include(reasons.join(), "reset-clock releases the check")
  })
})
