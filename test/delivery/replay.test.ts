import { OutboxId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import { NotFound, StateConflict } from "@tocsin/core/usecases/Operations"
import { assert, describe, it } from "@effect/vitest"
import { expireAll } from "@tocsin/testing/expireAll"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { itemsOf, statesOf } from "./outboxOf.ts"
import { type Answer, deferred, delivered, makeReceivers, refused } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { settled } from "./settled.ts"
import { openSite } from "./Site.ts"

const critical = [{ check: "disk", status: "critical" }] as const
const ok = [{ check: "disk", status: "ok" }] as const

/** A site whose receiver answers as set, with the item of an incident on it. */
const open = Effect.fnUntraced(function* (first: Answer) {
  const receiver = { answer: first }
  const receivers = makeReceivers({ answerTo: () => receiver.answer })
  const site = yield* openSite({ receivers, notifiers: ["webhook"] })
  const process = yield* site.open("first")
  yield* enroll(process, AGENT)
  yield* report(process, critical)
  yield* settled
  const id = (at = 0): OutboxId => itemsOf(site)[at]?.id ?? assert.fail("there is no such item")
  return { site, process, receivers, receiver, id }
})

/** The same with two dead letters: a firing that was given up, and the resolved after it. */
const openEnded = Effect.gen(function* () {
  const opened = yield* open(deferred)
  yield* TestClock.adjust(Duration.hours(30))
  opened.receiver.answer = refused
  yield* report(opened.process, ok)
  yield* settled
  assert.deepStrictEqual(statesOf(opened.site), ["firing failed", "resolved failed"])
  return opened
})

describe("replaying a dead letter", () => {
  it.effect("sends it anew at once, under its id, with all attempts before it", () =>
    Effect.gen(function* () {
      const { site, process, receivers, receiver, id } = yield* open(refused)
      assert.deepStrictEqual(statesOf(site), ["firing failed"])
      yield* TestClock.adjust(Duration.hours(1))
      receiver.answer = deferred
      assert.deepStrictEqual(yield* process.operations.replay(id()), { count: 1 })
      yield* settled
      assert.deepInclude(itemsOf(site)[0], { id: id(), state: "retry", attempts: 1 })
      assert.strictEqual(itemsOf(site)[0]?.counts_from, yield* Instant.now)
      receiver.answer = delivered
      yield* TestClock.adjust(Duration.seconds(6))
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
      assert.deepStrictEqual(
        new Set(receivers.attempts.map(({ notification }) => notification.id)),
        new Set([id()]),
      )
    }),
  )

  it.effect("is refused for what is not failed", () =>
    Effect.gen(function* () {
      const { site, process, id } = yield* open(deferred)
      assert.deepStrictEqual(statesOf(site), ["firing retry"])
      const before = itemsOf(site)
      const error = yield* Effect.flip(process.operations.replay(id()))
      assert.instanceOf(error, StateConflict)
      assert.deepStrictEqual(itemsOf(site), before)
    }),
  )

  it.effect("is refused twice in a row", () =>
    Effect.gen(function* () {
      const { process, id } = yield* open(refused)
      assert.deepStrictEqual(yield* process.operations.replay(id()), { count: 1 })
      assert.instanceOf(yield* Effect.flip(process.operations.replay(id())), StateConflict)
    }),
  )

  it.effect("is refused for a firing whose incident is resolved, and allowed for the resolved itself", () =>
    Effect.gen(function* () {
      const { site, process, receiver, id } = yield* openEnded
      const error = yield* Effect.flip(process.operations.replay(id(0)))
      assert.instanceOf(error, StateConflict)
      assert.match(error.message, /resolved/)
      receiver.answer = delivered
      assert.deepStrictEqual(yield* process.operations.replay(id(1)), { count: 1 })
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing failed", "resolved sent"])
    }),
  )

  it.effect("is refused for an id that nothing has, and for an item whose incident has expired", () =>
    Effect.gen(function* () {
      const { site, process, id } = yield* openEnded
      const unknown = OutboxId.make("0190b3a4-0000-7000-8000-000000000000")
      assert.instanceOf(yield* Effect.flip(process.operations.replay(unknown)), NotFound)
      const inAnHour = Instant.plus(yield* Instant.now, Duration.hours(1))
      yield* expireAll(process.storage, { rule: "incidents", before: inAnHour, limit: 100 })
      const error = yield* Effect.flip(process.operations.replay(id(1)))
      assert.instanceOf(error, StateConflict)
      assert.match(error.message, /retention/)
      assert.deepStrictEqual(statesOf(site), ["firing failed", "resolved failed"])
    }),
  )

  it.effect("puts it before the later ones of its incident", () =>
    Effect.gen(function* () {
      const { site, process, receivers, receiver, id } = yield* open(refused)
      yield* report(process, [{ check: "disk", status: "ok", loud: false }])
      yield* report(process, [{ check: "disk", status: "warning" }])
      yield* settled
      receiver.answer = deferred
      yield* report(process, critical)
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing failed", "firing failed", "firing retry"])
      assert.deepStrictEqual(yield* process.operations.replay(id(1)), { count: 1 })
      yield* settled
      assert.strictEqual(receivers.attempts.at(-1)?.notification.id, id(1))
      receiver.answer = delivered
      yield* TestClock.adjust(Duration.seconds(20))
      assert.deepStrictEqual(
        receivers.arrivals.map(({ notification }) => notification.id),
        [id(1), id(2)],
      )
    }),
  )
})
