import { assert, describe, it } from "@effect/vitest"
import type { AcknowledgeRequest } from "@tocsin/contract/acknowledgements/Acknowledgements"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import * as Instant from "@tocsin/contract/formats/Instant"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { Clock, Duration, Effect } from "effect"
import { deferred, delivered, refused, timedOut } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** Lets someone act. */
const as = <A, E>(name: string, action: Effect.Effect<A, E>) =>
  Effect.provideService(action, CurrentOperator, libraryOperator(name))

/** A timeline whose only open incident can be acknowledged. */
const open = Effect.gen(function* () {
  // Nobody sends heartbeats here, and nobody is to be missed.
  const timeline = yield* openTimeline({ deadAfter: Duration.days(30), process: { keepsHouse: true } })
  const { after, process, service } = timeline
  const id = () => {
    const incidents = Array.from(service.rows().incidents.values()).filter(({ state }) => state === "open")
    return incidents[0]?.id ?? assert.fail("no incident is open")
  }
  const done = <A, E>(effect: Effect.Effect<A, E>) => Effect.tap(Effect.orDie(effect), () => after(0))
  return {
    ...timeline,
    id,
    acknowledge: (request: AcknowledgeRequest = {}) =>
      done(Effect.suspend(() => as("eva", process.operations.acknowledge(id(), request)))),
    withdraw: done(Effect.suspend(() => as("eva", process.operations.withdraw(id())))),
    scenario: Effect.orDie(Effect.suspend(() => process.operations.incident(id()))),
  }
})

/** An incident of severity warning that the webhook knows of, acknowledged. */
const acknowledgedWarning = Effect.gen(function* () {
  const timeline = yield* open
  const { acknowledge, disk, webhook } = timeline
  yield* disk.turns("warning")
  yield* webhook.has("firing warning a/disk")
  yield* acknowledge()
  return timeline
})

/** Two checks of one incident; the first is known to the webhook and acknowledged as critical. */
const acknowledgedCritical = Effect.gen(function* () {
  const timeline = yield* open
  const { acknowledge, agent } = timeline
  yield* agent().reports({ check: "disk", status: "critical", key: "db", loud: false })
  yield* acknowledge()
  yield* agent().reports({ check: "cpu", status: "critical", key: "db" })
  return timeline
})

const test = testsFrom(open, it.effect)
const acknowledged = testsFrom(acknowledgedCritical, it.effect)

describe("an acknowledged incident", () => {
  test("stays so while a loud event leaves it milder, though one joins", function* ({
    acknowledge,
    agent,
    scenario,
  }) {
    yield* agent().reports({ check: "disk", status: "critical", key: "db" })
    yield* acknowledge()
    yield* agent().reports({ check: "cpu", status: "warning", key: "db", loud: false })
    yield* agent().reports({ check: "disk", status: "ok" })
    yield* agent().reports({ check: "net", status: "warning", key: "db" })
    const { incident } = yield* scenario
    assert.deepStrictEqual([incident.severity, incident.ack_by], ["warning", "eva"])
  })

  test("stays so while another member recovers loudly after it worsened silently", function* (opened) {
    const { acknowledge, agent, scenario } = opened
    yield* agent().reports({ check: "disk", status: "warning", key: "db" })
    yield* agent().reports({ check: "net", status: "warning", key: "db" })
    yield* acknowledge()
    yield* agent().reports({ check: "cpu", status: "critical", key: "db", loud: false })
    yield* agent().reports({ check: "disk", status: "ok" })
    const { incident } = yield* scenario
    assert.deepStrictEqual([incident.severity, incident.ack_by], ["critical", "eva"])
  })

  test("names who takes care of it in what is still sent, until it resolves", function* (opened) {
    const { acknowledge, after, disk, process, service, webhook } = opened
    const seen = () =>
      service.receivers.arrivals.map(({ notification: { acknowledgement, event_type } }) => [
        event_type,
        acknowledgement?.by,
        acknowledgement?.note,
      ])
    yield* webhook.answers(refused)
    yield* disk.turns("critical")
    yield* acknowledge({ note: "on it", for: Duration.hours(1) })
    yield* webhook.answers(delivered)
    const item = service.rows().outbox.values().next().value ?? assert.fail("there is no notification")
    yield* Effect.orDie(process.operations.replay(item.id))
    yield* after("5 minutes")
    yield* disk.turns("ok")
    assert.deepStrictEqual(seen(), [
      ["firing", "eva", "on it"],
      ["resolved", undefined, undefined],
    ])
  })

  acknowledged(
    "notifies nobody of another member of its severity, until the acknowledgement runs out",
    function* ({ after, outbox, webhook }) {
      yield* after("7 hours")
      yield* webhook.has()
      yield* outbox.is("firing pending")
      assert.deepInclude(outbox.item(), { next_attempt_at: undefined, attempts: 0 })
      yield* after("1 hour")
      yield* after("5 seconds")
      yield* webhook.has("firing critical db")
    },
  )

  acknowledged(
    "notifies within seconds when the acknowledgement is withdrawn, and its age counts from then",
    function* ({ after, outbox, webhook, withdraw }) {
      yield* after("1 hour")
      const untouched = outbox.item().updated_at
      yield* after("1 hour")
      assert.strictEqual(outbox.item().updated_at, untouched)
      assert.deepStrictEqual(yield* withdraw, { count: 1 })
      yield* after("5 seconds")
      yield* webhook.has("firing critical db")
      assert.isAtMost(Number((yield* Instant.now) - outbox.item().age_starts_at), 5_000_000)
      assert.deepStrictEqual(yield* withdraw, { count: 0 })
    },
  )

  acknowledged("that resolves before anyone was notified sends nothing", function* (opened) {
    const { after, agent, outbox, webhook } = opened
    yield* agent().reports(
      { check: "disk", status: "ok", key: "db" },
      { check: "cpu", status: "ok", key: "db" },
    )
    yield* after("9 hours")
    yield* webhook.has()
    yield* outbox.is("firing discarded")
  })

  it.effect("sends the resolved where a firing was attempted before", () =>
    Effect.gen(function* () {
      const { disk, webhook } = yield* acknowledgedWarning
      yield* disk.turns("ok")
      yield* webhook.has("firing warning a/disk", "resolved warning a/disk")
    }),
  )

  test("that worsens loudly notifies everyone, whatever was sent before, and is no longer acknowledged", function* ({
    acknowledge,
    disk,
    outbox,
    scenario,
    webhook,
  }) {
    yield* disk.turns("critical")
    yield* disk.turns("warning")
    yield* acknowledge()
    yield* disk.turns("critical")
    yield* webhook.has("firing critical a/disk", "firing critical a/disk")
    assert.strictEqual(outbox.item(1).cause, "worsened")
    const { log, incident } = yield* scenario
    assert.isUndefined(incident.ack_by)
    assert.deepStrictEqual(
      log.map(({ action, actor }) => [action, actor]),
      [
        ["worsened", "system"],
        ["acknowledged", "eva"],
      ],
    )
  })

  it.effect("stays acknowledged when it worsens silently", () =>
    Effect.gen(function* () {
      const { disk, scenario, webhook } = yield* acknowledgedWarning
      yield* disk.turns("critical", { loud: false })
      yield* webhook.has("firing warning a/disk")
      assert.strictEqual((yield* scenario).incident.ack_by, "eva")
    }),
  )

  test("holds a firing that was attempted before, and another takes its place", function* (opened) {
    const { acknowledge, after, disk, outbox, process, webhook } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* acknowledge({ for: Duration.minutes(10) })
    yield* webhook.answers(delivered)
    yield* after("9 minutes")
    yield* webhook.has()
    yield* outbox.is("firing retry")
    const shown = yield* process.operations.outbox({ sort: "created_at", direction: "asc", limit: 10 })
    assert.deepStrictEqual(
      shown.items.map(({ attempts, held_by, state }) => [state, held_by, attempts]),
      [["retry", ["ack"], 1]],
    )
    yield* after("75 seconds")
    yield* webhook.has("firing critical a/disk")
    yield* outbox.is("firing discarded", "firing sent")
  })

  for (const loud of [true, false])
    test(`resolves ${loud ? "" : "in silence "}during an attempt: there is no further one`, function* (opened) {
      const { acknowledge, after, disk, outbox, service, webhook } = opened
      yield* webhook.answers(timedOut)
      yield* disk.turns("critical")
      yield* outbox.is("firing sending")
      yield* acknowledge({ for: Duration.hours(1) })
      yield* webhook.answers(delivered)
      yield* disk.turns("ok", { loud })
      yield* after("10 minutes")
      const resolved = loud ? ["resolved critical a/disk"] : []
      yield* webhook.has("firing critical a/disk", ...resolved)
      assert.strictEqual(service.receivers.attempts.length, 1 + resolved.length)
      yield* outbox.is("firing discarded", ...(loud ? ["resolved sent"] : []))
    })

  test("is ended by a worsening: what waited behind one that was released states it", function* (opened) {
    const { acknowledge, after, disk, outbox, process, webhook } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("warning")
    yield* disk.turns("unknown")
    yield* acknowledge({ for: Duration.hours(1) })
    yield* process.operations.release(outbox.item(0).id)
    yield* after("1 second")
    yield* outbox.is("firing retry", "firing pending")
    yield* webhook.answers(delivered)
    yield* disk.turns("critical")
    yield* after("10 minutes")
    yield* webhook.has("firing warning a/disk", "firing critical a/disk")
  })

  test("lets a firing that was attempted before go out once it is released", function* (opened) {
    const { acknowledge, after, disk, outbox, process, service, webhook } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* acknowledge({ for: Duration.hours(1) })
    yield* webhook.answers(delivered)
    yield* after("9 minutes")
    const { id } = outbox.item()
    assert.deepStrictEqual(yield* process.operations.release(id), { count: 1 })
    yield* after("1 second")
    yield* outbox.is("firing sent")
    const [arrival] = service.receivers.arrivals
    assert.strictEqual(arrival?.notification.id, id)
    assert.strictEqual(arrival?.notification.acknowledgement?.by, "eva")
    const refused = yield* Effect.flip(process.operations.release(id))
    assert.strictEqual(refused._tag, "StateConflict")
  })

  test("is withdrawn: another firing takes the place of one that was attempted before", function* (opened) {
    const { acknowledge, after, disk, outbox, webhook, withdraw } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* acknowledge({ for: Duration.hours(1) })
    yield* webhook.answers(delivered)
    yield* after("9 minutes")
    yield* outbox.is("firing retry")
    yield* withdraw
    yield* after("15 seconds")
    yield* webhook.has("firing critical a/disk")
    yield* outbox.is("firing discarded", "firing sent")
  })

  it.effect("does not pass its acknowledgement on to the next incident of the key", () =>
    Effect.gen(function* () {
      const { disk, webhook } = yield* acknowledgedWarning
      yield* disk.turns("ok")
      yield* disk.turns("warning")
      yield* webhook.has("firing warning a/disk", "resolved warning a/disk", "firing warning a/disk")
    }),
  )
})

describe("an acknowledgement", () => {
  test("lasts 8 hours unless it says otherwise, and 7 days at most", function* (opened) {
    const { acknowledge, disk, id, process } = opened
    yield* disk.turns("critical")
    const now = yield* Instant.now
    assert.strictEqual((yield* acknowledge()).until, Instant.plus(now, Duration.hours(8)))
    const until = Instant.plus(now, Duration.days(7))
    assert.deepInclude(yield* acknowledge({ until, note: "away" }), { until, note: "away", by: "eva" })
    const refusals = [{ for: Duration.days(8) }, { until: now }, { until, for: Duration.hours(1) }]
    for (const request of refusals) {
      const refused = yield* Effect.flip(process.operations.acknowledge(id(), request))
      assert.strictEqual(refused._tag, "ValidationError")
    }
  })

  test("is refused for a severity that is no longer the incident's, and for a resolved incident", function* ({
    disk,
    id,
    process,
  }) {
    yield* disk.turns("critical")
    const incident = id()
    const refusalOf = (severity?: "warning") =>
      Effect.map(
        Effect.flip(process.operations.acknowledge(incident, { ...(severity && { severity }) })),
        ({ _tag }) => _tag,
      )
    assert.strictEqual(yield* refusalOf("warning"), "StateConflict")
    yield* disk.turns("ok")
    assert.strictEqual(yield* refusalOf(), "StateConflict")
    const { items } = yield* process.operations.acknowledgeAll({ ids: [incident] })
    assert.deepStrictEqual(items, [{ id: incident, outcome: "resolved" }])
  })

  test("again after it ran out keeps each act in the scenario", function* (opened) {
    const { acknowledge, after, disk, scenario } = opened
    yield* disk.turns("critical")
    yield* acknowledge({ for: Duration.minutes(5) })
    yield* after("1 hour")
    yield* acknowledge({ for: Duration.minutes(5) })
    const { log } = yield* scenario
    assert.deepStrictEqual(
      log.map(({ action, seq }) => `${seq} ${action}`),
      ["3 acknowledged", "2 ran_out", "1 acknowledged"],
    )
  })

  test("by two people at the same time: the later one counts, and both are in the scenario", function* ({
    disk,
    id,
    process,
    scenario,
  }) {
    yield* disk.turns("critical")
    const acknowledge = (by: string) => as(by, process.operations.acknowledge(id(), {}))
    yield* Effect.all([acknowledge("eva"), acknowledge("max")], { concurrency: 2 })
    const { log, incident } = yield* scenario
    assert.sameMembers(
      log.map(({ actor }) => actor),
      ["eva", "max"],
    )
    assert.strictEqual(incident.ack_by, log[0]?.actor)
  })
})

describe("the end of an acknowledgement", () => {
  acknowledged("is exactly its length after the moment at which it was recorded", function* (opened) {
    const { id, process } = opened
    const clock = yield* Clock.Clock
    // Each reading is a millisecond later, as on a clock that goes on.
    let reads = 0n
    const next = () => clock.currentTimeNanosUnsafe() + (reads += 1n) * 1_000_000n
    const going: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeNanosUnsafe: next,
      currentTimeNanos: Effect.sync(next),
    })
    const acknowledging = process.operations.acknowledge(id(), { for: Duration.minutes(90) })
    const { at, until } = yield* Effect.provideService(acknowledging, Clock.Clock, going)
    assert.isAbove(Number(reads), 1)
    assert.strictEqual(until, Instant.plus(at, Duration.minutes(90)))
  })

  acknowledged("counts for people at that moment, before a timer has ended it", function* (opened) {
    const { acknowledge, id, process } = opened
    const { operations } = process
    const { until } = yield* acknowledge({ for: Duration.minutes(5) })
    const shown = Effect.gen(function* () {
      const { items } = yield* operations.incidents({ sort: "status", direction: "desc", limit: 10 })
      const { acknowledgement } = toIncidentDetail(yield* operations.incident(id()))
      return [items[0]?.acknowledgement?.until, acknowledgement?.until]
    })
    const clock = yield* Clock.Clock
    // The clock moves and no timer runs.
    const at = (moment: bigint) => {
      const nanos = moment * 1_000n
      const moved: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeNanosUnsafe: () => nanos,
        currentTimeNanos: Effect.succeed(nanos),
      })
      return Effect.provideService(shown, Clock.Clock, moved)
    }
    assert.deepStrictEqual(yield* at(until - 1n), [until, until])
    assert.deepStrictEqual(yield* at(until), [undefined, undefined])
  })
})

describe("an acknowledgement that ran out during an outage, while agents may still report recoveries", () => {
  const SHORT = { for: Duration.minutes(5) }

  acknowledged("is over for people, and holds until they have had their time", function* (opened) {
    const { acknowledge, after, id, isDownFor, service, webhook } = opened
    yield* acknowledge(SHORT)
    yield* isDownFor("10 minutes")
    yield* after("30 seconds")
    yield* webhook.has()
    const { operations } = yield* service.open("operators", { delivers: false })
    assert.deepStrictEqual(yield* operations.withdraw(id()), { count: 0 })
    assert.isNull(toIncidentDetail(yield* operations.incident(id())).acknowledgement)
    yield* after("5 minutes")
    yield* webhook.has("firing critical db")
  })

  test("is over for an incident that worsens loudly, which everyone learns after that time", function* ({
    acknowledge,
    after,
    disk,
    isDownFor,
    outbox,
    webhook,
  }) {
    yield* disk.turns("critical")
    yield* disk.turns("warning")
    yield* acknowledge(SHORT)
    yield* isDownFor("10 minutes")
    yield* after("30 seconds")
    yield* disk.turns("critical")
    yield* webhook.has("firing critical a/disk")
    yield* after("2 minutes")
    yield* webhook.has("firing critical a/disk", "firing critical a/disk")
    assert.strictEqual(outbox.item(1).cause, "ack_ran_out")
    yield* after("10 minutes")
    yield* outbox.is("firing sent", "firing sent")
  })
})

describe("a note", () => {
  test("is part of the scenario, also of a resolved incident", function* ({ disk, id, process }) {
    yield* disk.turns("critical")
    const incident = id()
    yield* as("eva", process.operations.note(incident, { text: "disk ordered" }))
    yield* disk.turns("ok")
    yield* as("max", process.operations.note(incident, { text: "disk replaced" }))
    const { log } = yield* process.operations.incident(incident)
    assert.deepStrictEqual(
      log.map(({ actor, text }) => `${actor}: ${text}`),
      ["max: disk replaced", "eva: disk ordered"],
    )
  })
})
