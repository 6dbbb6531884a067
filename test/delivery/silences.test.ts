import { assert, describe, it } from "@effect/vitest"
import { isHeld } from "@tocsin/core/heart/model/OutboxRecord"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { SilenceRequest } from "@tocsin/contract/silences/Silences"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { Matcher } from "@tocsin/contract/labels/Matcher"
import type { RetentionOptions } from "@tocsin/core/kernel/engine/commits/Retention"
import { Duration, Effect, Exit, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, heartbeat, enroll, report, type Result as Reported } from "../service/agents.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openService, type Process } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const NAMES = ["chat"]
const DISKS: ReadonlyArray<Matcher> = [{ field: "check_id", op: "glob", value: "disk*" }]

/** Another process delivers, once it is opened. */
const LATER = { delivers: false }

const openSilences = Effect.fnUntraced(function* (
  document: object = {},
  retention: Partial<RetentionOptions> = {},
  { deadAfter = Duration.days(365), delivers = true } = {},
) {
  const service = yield* openService({ notifiers: NAMES, deadAfter })
  const open = Effect.fnUntraced(function* (name: string, sends = true) {
    const process = yield* service.open(name, { keepsHouse: sends, delivers: sends, retention })
    yield* process.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(document, NAMES)), NAMES))
    yield* settled
    return process
  })
  const process = yield* open("first", delivers)
  yield* enroll(process, AGENT)
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  const turns = (check: string, status: Reported["status"], more: Partial<Reported> = {}) =>
    Effect.andThen(Effect.orDie(report(process, [{ check, status, ...more }])), settled)
  /** Two firings before a claim. */
  const worsens = (check: string) =>
    Effect.andThen(
      Effect.orDie(
        report(process, [
          { check, status: "warning" },
          { check, status: "critical" },
        ]),
      ),
      settled,
    )
  const silence = (minutes: number, more: Partial<SilenceRequest> = {}, by: Process = process) =>
    by.operations.silence({
      matchers: DISKS,
      for: Duration.minutes(minutes),
      comment: "new disks",
      ...more,
    })
  const messages = () =>
    service.receivers.arrivals.map(({ notification: { cause, event_type, severity } }) =>
      [cause ?? event_type, severity].join(" "),
    )
  const items = () => Array.from(service.rows().outbox.values())
  return { service, process, open, after, turns, worsens, silence, messages, items }
})

const test = testsFrom(openSilences(), it.effect)

describe("a silence", () => {
  test("holds what it covers until it ends, and then sends what the incident shows", function* (opened) {
    const { after, messages, silence, turns } = opened
    yield* silence(30)
    yield* turns("disk", "warning")
    yield* turns("load", "critical")
    assert.deepStrictEqual(messages(), ["opened critical"])
    yield* turns("disk", "critical")
    yield* after("29 minutes")
    assert.strictEqual(messages().length, 1)
    yield* after("65 seconds")
    assert.deepStrictEqual(messages().slice(1), ["opened critical"])
  })

  it.effect("of a check covers no heartbeat incident, which has none", () =>
    Effect.gen(function* () {
      const { after, messages, silence } = yield* openSilences({}, {}, { deadAfter: Duration.minutes(5) })
      yield* silence(60, { matchers: [{ field: "check_id", op: "glob", value: "@heart*" }] })
      yield* after("6 minutes")
      assert.deepStrictEqual(messages(), ["opened critical"])
    }),
  )

  test("that another replica ends frees what it held within seconds", function* (opened) {
    const { after, messages, open, silence, turns } = opened
    const second = yield* open("second")
    const { id } = yield* silence(600)
    yield* turns("disk", "warning")
    yield* after("1 hour")
    assert.deepStrictEqual(messages(), [])
    assert.deepStrictEqual(yield* second.operations.expireSilence(id), { count: 1 })
    assert.deepStrictEqual(yield* second.operations.expireSilence(id), { count: 0 })
    yield* after("12 seconds")
    assert.deepStrictEqual(messages(), ["opened warning"])
  })

  test("that is ended right after it began frees what it held within seconds", function* (opened) {
    const { after, messages, process, silence, turns } = opened
    yield* after("7 seconds")
    const { id } = yield* silence(600)
    yield* turns("disk", "warning")
    yield* process.operations.expireSilence(id)
    yield* after("12 seconds")
    assert.deepStrictEqual(messages(), ["opened warning"])
  })

  test("that is extended or shortened holds until its new end", function* (opened) {
    const { after, messages, process, silence, turns } = opened
    const { id, starts_at } = yield* silence(600)
    yield* turns("disk", "warning")
    yield* process.operations.editSilence(id, { ends_at: Instant.plus(starts_at, Duration.minutes(20)) })
    yield* after("19 minutes")
    assert.deepStrictEqual(messages(), [])
    yield* after("65 seconds")
    assert.deepStrictEqual(messages(), ["opened warning"])
    assert.isTrue(Exit.isFailure(yield* Effect.exit(process.operations.editSilence(id, { comment: "late" }))))
  })

  test("that is shortened frees what it held within seconds of its new end", function* (opened) {
    const { after, messages, process, silence, turns } = opened
    const { id, starts_at } = yield* silence(600)
    yield* turns("disk", "warning")
    yield* after("10 minutes")
    yield* process.operations.editSilence(id, { ends_at: Instant.plus(starts_at, Duration.minutes(12)) })
    yield* after("115 seconds")
    assert.deepStrictEqual(messages(), [])
    yield* after("20 seconds")
    assert.deepStrictEqual(messages(), ["opened warning"])
  })

  test("holds no resolved, and a firing that it held until then is discarded", function* (opened) {
    const { items, messages, silence, turns } = opened
    yield* turns("disk-a", "warning")
    yield* silence(30)
    yield* turns("disk-a", "ok")
    yield* turns("disk-b", "warning")
    yield* turns("disk-b", "ok")
    assert.deepStrictEqual(messages(), ["opened warning", "resolved warning"])
    assert.deepStrictEqual(
      items()
        .map(({ next_evaluation_at, state }) => `${state} ${next_evaluation_at}`)
        .toSorted(),
      ["discarded undefined", "sent undefined", "sent undefined"],
    )
  })

  test("that held a firing for more than a day leaves it a day of attempts", function* (opened) {
    const { after, items, service, silence, turns } = opened
    yield* silence(25 * 60)
    yield* turns("disk", "warning")
    service.receivers.answerWith(deferred)
    yield* after("25 hours")
    yield* after("1 minute")
    assert.deepStrictEqual(
      items().map(({ attempts, state }) => [attempts > 0, state]),
      [[true, "retry"]],
    )
  })

  it.effect("withholds reminders, which come when it has ended", () =>
    Effect.gen(function* () {
      const { after, messages, silence, turns } = yield* openSilences({ routes: [{ remind: "15m" }] })
      yield* turns("disk", "warning")
      yield* silence(60)
      yield* after("59 minutes")
      assert.deepStrictEqual(messages(), ["opened warning"])
      yield* after("75 seconds")
      assert.deepStrictEqual(messages(), ["opened warning", "reminder warning"])
    }),
  )

  test("that ended while Tocsin was down ends two minutes after its return", function* (opened) {
    const { after, messages, open, process, silence, turns } = opened
    yield* silence(30)
    yield* turns("disk", "warning")
    yield* after("10 minutes")
    yield* process.close
    yield* TestClock.adjust("1 hour")
    yield* open("second")
    yield* after("115 seconds")
    assert.deepStrictEqual(messages(), [])
    yield* after("15 seconds")
    assert.deepStrictEqual(messages(), ["opened warning"])
  })

  it.effect("holds a firing behind another one too, and the receiver gets one firing of both", () =>
    Effect.gen(function* () {
      const { after, items, messages, open, process, silence, worsens } = yield* openSilences({}, {}, LATER)
      yield* worsens("disk")
      yield* silence(30)
      yield* open("second")
      yield* after("6 seconds")
      assert.deepStrictEqual(
        items().map((item) => [item.severity, item.state, isHeld(item)]),
        [
          ["warning", "discarded", false],
          ["critical", "pending", true],
        ],
      )
      const page = yield* process.operations.outbox({
        held: true,
        sort: "created_at",
        direction: "asc",
        limit: 10,
      })
      assert.strictEqual(page.items.length, 1)
      yield* after("31 minutes")
      assert.deepStrictEqual(messages(), ["opened critical"])
    }),
  )

  const releases = [
    [0, "first", "0 seconds"],
    [1, "second", "0 seconds"],
    [1, "second", "6 seconds"],
  ] as const
  for (const [at, which, wait] of releases)
    it.effect(`holds two firings, of which the ${which} is released after ${wait} for both`, () =>
      Effect.gen(function* () {
        const { after, items, messages, open, process, silence, worsens } = yield* openSilences({}, {}, LATER)
        yield* worsens("disk")
        yield* silence(30)
        if (wait !== "0 seconds") yield* open("second")
        yield* after(wait)
        yield* process.operations.release(items()[at]?.id ?? assert.fail("there is no such item"))
        if (wait === "0 seconds") yield* open("second")
        yield* after("15 seconds")
        assert.deepStrictEqual(messages(), ["opened critical"])
        yield* after("40 minutes")
        assert.deepStrictEqual(messages(), ["opened critical"])
        const states = items().map(({ state }) => state)
        assert.deepStrictEqual(states.toSorted(), ["discarded", "sent"])
      }),
    )

  test("holds a firing behind a retry, and an operator releases it", function* (opened) {
    const { after, items, messages, process, service, silence, turns } = opened
    service.receivers.answerWith(deferred)
    yield* turns("disk", "warning")
    yield* after("3 minutes")
    yield* silence(600)
    const retriedAt = items()[0]?.next_attempt_at
    yield* turns("disk", "critical")
    // One that is held hurries none before it.
    assert.strictEqual(items()[0]?.next_attempt_at, retriedAt)
    const id = items()[1]?.id ?? assert.fail("there is no such item")
    const held = Effect.map(
      process.operations.outbox({ sort: "created_at", direction: "asc", limit: 10 }),
      (page) => page.items.map(({ held_by, state }) => [state, held_by.length]),
    )
    assert.deepStrictEqual(yield* held, [
      ["retry", 0],
      ["pending", 1],
    ])
    assert.deepStrictEqual(yield* process.operations.release(id), { count: 1 })
    assert.deepStrictEqual(yield* held, [
      ["retry", 0],
      ["pending", 0],
    ])
    service.receivers.answerWith(delivered)
    yield* after("1 hour")
    assert.deepStrictEqual(messages().slice(-2), ["opened warning", "worsened critical"])
    const again = yield* Effect.flip(process.operations.release(id))
    assert.strictEqual(again._tag, "StateConflict")
  })

  it.effect("holds the firings of two receivers, of which one is released", () =>
    Effect.gen(function* () {
      const { after, disk, outbox, process } = yield* openTimeline({ notifiers: ["messenger", "webhook"] })
      const asked = { matchers: DISKS, for: Duration.hours(1), comment: "new disks" }
      yield* process.operations.silence(asked)
      yield* disk.turns("critical")
      yield* process.operations.release(outbox.item(1).id)
      yield* after("1 minute")
      yield* outbox.is("firing pending", "firing sent")
    }),
  )

  test("does not hold a firing behind a retry that it does not cover, so it is not released", function* ({
    items,
    process,
    service,
    silence,
    turns,
  }) {
    service.receivers.answerWith(deferred)
    yield* silence(600)
    yield* turns("load", "warning")
    yield* turns("load", "critical")
    const id = items()[1]?.id ?? assert.fail("there is no such item")
    assert.strictEqual((yield* Effect.flip(process.operations.release(id)))._tag, "StateConflict")
  })

  test("holds a look at nothing: while nothing changes, nothing is written", function* (opened) {
    const { after, items, silence, turns } = opened
    yield* silence(600)
    for (const check of ["disk-a", "disk-b", "disk-c"]) yield* turns(check, "warning")
    const before = items()
    yield* after("1 hour")
    // The same rows, not rows that are equal.
    assert.isTrue(items().every((item, index) => item === before[index]))
  })
})

describe("flapping", () => {
  it.effect("from the given number of openings of a key on, the longer after holds", () =>
    Effect.gen(function* () {
      const { after, messages, turns } = yield* openSilences({
        routes: [{ flapping: { openings: 3, within: "1h", after: "10m" } }],
      })
      for (const _ of [1, 2]) {
        yield* turns("disk", "warning")
        yield* turns("disk", "ok")
        yield* after("1 minute")
      }
      assert.strictEqual(messages().length, 4)
      yield* turns("disk", "warning")
      yield* after("595 seconds")
      assert.strictEqual(messages().length, 4)
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(4), ["opened warning"])
    }),
  )

  it.effect("does not count an explicit key that equals an automatic one, in one batch", () =>
    Effect.gen(function* () {
      const { messages, process } = yield* openSilences({
        routes: [{ flapping: { openings: 2, within: "1h", after: "10m" } }],
      })
      const [status, key] = ["warning", "a/disk"] as const
      yield* report(process, [
        { check: "disk", status },
        { check: "load", status, key },
      ])
      yield* settled
      assert.deepStrictEqual(messages(), ["opened warning", "opened warning"])
    }),
  )

  it.effect("counts the openings within the span of its own route", () =>
    Effect.gen(function* () {
      const flapping = (openings: number, within: string) => ({ openings, within, after: "30m" })
      const { after, messages, turns } = yield* openSilences({
        routes: [
          { match: ["check_id = disk"], flapping: flapping(3, "10m") },
          { match: ["check_id = load"], flapping: flapping(5, "10h") },
        ],
      })
      // The first opening is ten minutes before the third.
      for (const pause of ["5 minutes", "5 minutes", "0 seconds"] as const) {
        yield* turns("disk", "warning")
        yield* turns("disk", "ok")
        yield* after(pause)
      }
      assert.strictEqual(messages().length, 6)
    }),
  )

  it.effect("counts openings of incidents whose retention is shorter than its span", () =>
    Effect.gen(function* () {
      const short = { incidents: Duration.minutes(1), outbox: Duration.minutes(1) }
      const { after, messages, process, turns } = yield* openSilences(
        { routes: [{ flapping: { openings: 3, within: "2h", after: "30m" } }] },
        short,
      )
      for (const _ of [1, 2]) {
        yield* turns("disk", "warning")
        yield* turns("disk", "ok")
        yield* after("55 minutes")
      }
      yield* turns("disk", "warning")
      // The first opening is older than two hours then, and still holds the firing of the third.
      yield* after("29 minutes")
      assert.strictEqual(messages().length, 4)
      yield* after("2 minutes")
      assert.deepStrictEqual(messages().slice(4), ["opened warning"])
      yield* turns("disk", "ok")
      const incidents = Effect.map(
        process.queries.incidents({ sort: "opened_at", direction: "asc", limit: 10 }),
        ({ items }) => items.length,
      )
      yield* after("2 hours")
      assert.strictEqual(yield* incidents, 1)
      yield* after("45 minutes")
      assert.strictEqual(yield* incidents, 0)
    }),
  )
})

describe("creating a silence", () => {
  test("is previewed, and refused without confirm where it covers most agents", function* (opened) {
    const { process, silence, turns } = opened
    for (let n = 0; n < 9; n += 1) yield* enroll(process, `agent-${n}` as typeof AGENT)
    const matchers: ReadonlyArray<Matcher> = [{ field: "agent_id", op: "glob", value: "*a*" }]
    yield* turns("disk", "warning")
    const request = { matchers, for: Duration.minutes(5), comment: "all" }
    // A silence of ten agents is never refused.
    const few = yield* process.operations.previewSilence(request)
    assert.deepInclude(few, { agents: 10, needs_confirm: false })
    yield* enroll(process, "agent-9" as typeof AGENT)
    // It is pending.
    yield* Effect.orDie(heartbeat(process, "another" as typeof AGENT))
    const preview = yield* process.operations.previewSilence(request)
    assert.deepInclude(preview, { agents: 11, needs_confirm: true, open_incidents: 1 })
    assert.strictEqual(preview.sample.length, 1)
    const message = yield* Effect.flip(silence(5, { matchers: DISKS }))
    assert.include(message.message, '"confirm": true')
    yield* silence(5, { matchers: DISKS, confirm: true })
    yield* silence(5, { matchers: [{ field: "check_id", op: "=", value: "disk" }] })
    for (let n = 0; n < 12; n += 1) yield* enroll(process, `host-${n}` as typeof AGENT)
    // Half of them are not most of them.
    const half = yield* process.operations.previewSilence(request)
    assert.deepInclude(half, { agents: 12, needs_confirm: false })
  })

  test("needs confirm as one without a check does if it names no check", function* ({ process, silence }) {
    for (let n = 0; n < 10; n += 1) yield* enroll(process, `agent-${n}` as typeof AGENT)
    for (const field of ["check_id", "incident_key"] as const) {
      const matchers: ReadonlyArray<Matcher> = [...DISKS, { field, op: "=", value: "" }]
      assert.include((yield* Effect.flip(silence(5, { matchers }))).message, '"confirm": true')
    }
  })

  test("states one end, in the future, and within the settings", function* ({ process, silence }) {
    const now = yield* Instant.now
    const inDays = (days: number) => Instant.plus(now, Duration.days(days))
    const refused = (request: Partial<SilenceRequest>) =>
      Effect.map(Effect.flip(silence(5, request)), ({ message }) => message)
    assert.include(yield* refused({ ends_at: inDays(1) }), "exclude each other")
    assert.include(yield* refused({ for: Duration.days(31) }), "SERVICE_SILENCE_MAX")
    assert.include(yield* refused({ starts_at: inDays(2), for: Duration.days(31) }), "SERVICE_SILENCE_MAX")
    const late = Instant.parse("9999-12-31T23:00:00Z") ?? assert.fail("no such time")
    assert.include(yield* refused({ starts_at: late, for: Duration.days(1) }), "year 10000")
    const { id } = yield* silence(5, { starts_at: inDays(2) })
    const soon = Instant.minus(now, Duration.seconds(60))
    assert.strictEqual((yield* silence(5, { starts_at: soon })).starts_at, now)
    const past = { starts_at: Instant.minus(soon, Duration.millis(1)), for: Duration.days(1) }
    assert.include(yield* refused(past), "starts_at must not be more than a minute in the past")
    assert.include(yield* refused({ for: Duration.days(31) }), "for must not make the silence longer")
    const early = yield* Effect.flip(process.operations.editSilence(id, { ends_at: inDays(1) }))
    assert.include(early.message, "after starts_at")
    const empty = Effect.flip(process.operations.silence({ matchers: DISKS, comment: "", ends_at: now }))
    assert.include((yield* empty).message, "ends_at must be in the future")
    const longest = yield* silence(5, { for: Duration.days(30) })
    assert.strictEqual(longest.ends_at, inDays(30))
    yield* TestClock.adjust("1 minute")
    const ended = process.operations.editSilence(longest.id, { ends_at: yield* Instant.now })
    assert.include((yield* Effect.flip(ended)).message, "expire the silence to end it now")
  })

  test("keeps another comment, with its end or alone", function* ({ process, silence }) {
    const { ends_at, id } = yield* silence(5)
    yield* process.operations.editSilence(id, { comment: "older disks" })
    const { items } = yield* process.queries.silences({ limit: 5 })
    assert.deepStrictEqual(
      items.map((one) => [one.comment, one.ends_at]),
      [["older disks", ends_at]],
    )
  })
})
