import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { type Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { busy, deferred, delivered, refused, shadow, silent } from "../service/Receivers.ts"
import { openService, type Process, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const CALL = {
  kind: "messenger",
  type: "call",
  account: "AC1",
  token_env: "T",
  from: "+4930123456",
  to: "+4915112345678",
}

/** A service whose messenger is a phone, and one process that calls it. */
const openPhone = Effect.fnUntraced(function* (changes: object = {}) {
  const defined = { messenger: { ...CALL, ...changes } }
  const policy = Result.getOrThrow(readPolicy({ receivers: defined }, []))
  const service = yield* openService({ notifiers: ["messenger"], policy })
  const start = (name: string) => Effect.tap(service.open(name, { reports: true }), settled)
  const process = yield* start("a")
  yield* enroll(process, AGENT)
  yield* settled
  const began = yield* Instant.now
  const { receivers } = service
  const seconds = (at: Instant.Instant) => Number(at - began) / 1e6
  return {
    service,
    start,
    process,
    receivers,
    passes: (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled),
    reports: (results: Parameters<typeof report>[1], by: Process = process) =>
      Effect.andThen(Effect.orDie(report(by, results)), settled),
    /** The calls, each with its second, the process that made it, and what it was about. */
    calls: () =>
      [
        ...receivers.digests.map(({ at, client, notifications }) => ({ at, client, about: notifications })),
        ...receivers.attempts.map(({ client, notification, startedAt }) => ({
          at: startedAt,
          client,
          about: [notification],
        })),
      ]
        .toSorted((a, b) => Number(a.at - b.at))
        .map(({ about, at, client }) => ({
          at: seconds(at),
          client,
          about: `${about.length} ${Array.from(new Set(about.map(({ event_type }) => event_type))).join()}`,
        })),
    states: () =>
      Array.from(service.rows().outbox.values()).map(({ event_type, state }) => `${event_type} ${state}`),
  }
})

const timesOf = (calls: ReadonlyArray<{ readonly at: number; readonly about: string }>) =>
  calls.map(({ about, at }) => `${at} s: ${about}`)

const test = testsFrom(openPhone(), it.effect)

describe("a phone", () => {
  test("rings once, and 90 s after that call began with all that is due", function* (opened) {
    const { calls, passes, reports, states } = opened
    yield* reports(criticalChecks(1))
    yield* passes("20 seconds")
    yield* reports(criticalChecks(4))
    yield* passes("69 seconds")
    assert.deepStrictEqual(timesOf(calls()), ["0 s: 1 firing"])
    assert.deepStrictEqual(states(), ["firing sent", ...Array.from({ length: 3 }, () => "firing pending")])
    yield* passes("1 second")
    assert.deepStrictEqual(timesOf(calls()), ["0 s: 1 firing", "90 s: 3 firing"])
    yield* passes("10 minutes")
    assert.strictEqual(calls().length, 2)
  })

  it.effect("calls about firings before resolutions, which it gets on demand alone", () =>
    Effect.gen(function* () {
      const { calls, passes, reports } = yield* openPhone({ resolved: true })
      yield* reports(criticalChecks(1))
      yield* reports([
        { check: "check-0", status: "ok" },
        { check: "other", status: "critical" },
      ])
      yield* passes("5 minutes")
      assert.deepStrictEqual(timesOf(calls()), ["0 s: 1 firing", "90 s: 1 firing", "180 s: 1 resolved"])
      const silentPhone = yield* openPhone()
      yield* silentPhone.reports(criticalChecks(1))
      yield* silentPhone.reports([{ check: "check-0", status: "ok" }])
      yield* silentPhone.passes("5 minutes")
      assert.deepStrictEqual(timesOf(silentPhone.calls()), ["0 s: 1 firing"])
    }),
  )

  for (const [count, isWithKey] of [
    [10, true],
    [11, false],
  ] as const)
    test(`acknowledges by its key ${count} incidents ${isWithKey ? "together" : "not"}`, function* (opened) {
      const { calls, passes, reports, service } = opened
      yield* reports(criticalChecks(1))
      yield* reports(criticalChecks(count + 1))
      yield* passes("90 seconds")
      assert.deepStrictEqual(timesOf(calls()), ["0 s: 1 firing", `90 s: ${count} firing`])
      const known = Array.from(service.rows().outbox.values(), ({ called_with }) => called_with?.length ?? 0)
      assert.deepStrictEqual(
        known.filter((length) => length > 0),
        isWithKey ? [count - 1] : [],
      )
    })

  test("is free at once after a call that did not ring, and not after one that may have", function* (opened) {
    const { calls, passes, receivers, reports } = opened
    receivers.answerWith(refused)
    yield* reports(criticalChecks(1))
    receivers.answerWith(busy)
    yield* reports([{ check: "second", status: "critical" }])
    yield* passes("10 seconds")
    assert.strictEqual(calls().length, 3)
    receivers.answerWith({ ...silent, answeringMillis: 10_000 })
    yield* passes("1 minute")
    const lost = calls().at(-1)?.at ?? Number.NaN
    receivers.answerWith(delivered)
    yield* reports([{ check: "third", status: "critical" }])
    yield* passes("2 minutes")
    assert.closeTo(calls().at(-1)?.at ?? 0, lost + 90, 1e-6)
  })

  test("rings about each of a digest that its service refuses, one after the other", function* (opened) {
    const { calls, passes, receivers, reports, states } = opened
    receivers.answerDigestsWith(refused)
    yield* reports(criticalChecks(3))
    yield* passes("5 minutes")
    assert.deepStrictEqual(timesOf(calls()), [
      "0 s: 3 firing",
      "0 s: 1 firing",
      "90 s: 1 firing",
      "180 s: 1 firing",
    ])
    assert.deepStrictEqual(states(), ["firing sent", "firing sent", "firing sent"])
  })

  it.effect("has the rows of a phone that rings as a shadow", () =>
    Effect.gen(function* () {
      const play = Effect.fnUntraced(function* (isShadow: boolean) {
        const { calls, passes, receivers, reports, service } = yield* openPhone()
        if (isShadow) {
          receivers.answerWith(shadow)
          receivers.answerDigestsWith(shadow)
        }
        yield* reports(criticalChecks(1))
        yield* reports(criticalChecks(4))
        yield* passes("2 minutes")
        const rows = Array.from(service.rows().outbox.values())
        return {
          calls: timesOf(calls()),
          times: rows.map(({ first_attempted_at, updated_at }) => [first_attempted_at, updated_at]),
        }
      })
      assert.deepStrictEqual(yield* play(true), yield* play(false))
    }),
  )

  test("rests through a restart", function* ({ calls, passes, process, reports, start }) {
    yield* reports(criticalChecks(1))
    yield* reports(criticalChecks(2))
    yield* whileTimePasses(process.close)
    yield* start("b")
    yield* passes("88 seconds")
    assert.strictEqual(calls().length, 1)
    yield* passes("3 seconds")
    assert.deepStrictEqual(timesOf(calls()), ["0 s: 1 firing", "90 s: 1 firing"])
  })

  test("is served by one of several processes, and by another within 30 s of its death", function* (opened) {
    const { calls, passes, process, receivers, reports, start } = opened
    const others = [yield* start("b"), yield* start("c")]
    receivers.answerWith(deferred)
    receivers.answerDigestsWith(deferred)
    yield* passes("15 seconds")
    yield* reports(criticalChecks(3))
    yield* passes("10 minutes")
    const clients = new Set(calls().map(({ client }) => client))
    assert.strictEqual(clients.size, 1)
    for (const [n, { at }] of calls().entries())
      if (n > 0) assert.isAtLeast(at, (calls()[n - 1]?.at ?? 0) + 90)
    const [owner = ""] = clients
    const all = [process, ...others]
    const dead = all.find(({ name }) => name === owner) ?? assert.fail("no owner")
    const [left = process] = all.filter((one) => one !== dead)
    // It reports nothing more, as after a crash.
    dead.faults.isUnreachable = true
    receivers.answerWith(delivered)
    receivers.answerDigestsWith(delivered)
    const before = calls().length
    yield* reports([{ check: "later", status: "critical" }], left)
    yield* passes("2 minutes")
    const after = calls().slice(before)
    assert.isNotEmpty(after)
    for (const { client } of after) assert.notStrictEqual(client, owner)
  })
})
