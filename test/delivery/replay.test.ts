import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotFound, StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
import { assert, describe, it } from "@effect/vitest"
import { type AttemptResult, recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { claimItems } from "@tocsin/testing/claimItems"
import { expireAll } from "@tocsin/testing/expireAll"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect } from "effect"
import { type Answer, deferred, delivered, refused } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

/** A critical check, and a webhook that answers as given. */
const openCritical = Effect.fnUntraced(function* (answer: Answer) {
  const timeline = yield* openTimeline()
  const { process, service, webhook, disk, outbox, after } = timeline
  yield* webhook.answers(answer)
  yield* disk.turns("critical")
  const replay = Effect.fnUntraced(function* (at = 0) {
    const reply = yield* process.operations.replay(outbox.item(at).id)
    yield* after(0)
    return reply
  })
  return { ...timeline, receivers: service.receivers, replay }
})

const CLAIMS = { receivers: ["webhook"], limit: 5, lease: Duration.minutes(1), random: 0.5 } as const

/** Two dead letters: a firing that was retried for a day, and the resolved after it. */
const openEnded = Effect.gen(function* () {
  const timeline = yield* openCritical(deferred)
  const { webhook, disk, outbox, after } = timeline
  yield* after("30 hours")
  yield* webhook.answers(refused)
  yield* disk.turns("ok")
  yield* outbox.is("firing failed", "resolved failed")
  return timeline
})

describe("replaying a dead letter", () => {
  it.effect("sends it again immediately under its ID, with all attempts before it", () =>
    Effect.gen(function* () {
      const { webhook, outbox, after, replay, receivers } = yield* openCritical(refused)
      yield* outbox.is("firing failed")
      yield* after("1 hour")
      yield* webhook.answers(deferred)
      assert.deepStrictEqual(yield* replay(), { count: 1 })
      const { id } = outbox.item()
      assert.deepInclude(outbox.item(), { state: "retry", attempts: 1, age_starts_at: yield* Instant.now })
      yield* webhook.answers(delivered)
      yield* after("6 seconds")
      yield* outbox.is("firing sent")
      assert.isTrue(receivers.attempts.every(({ notification }) => notification.id === id))
    }),
  )

  it.effect(
    "stays in its place, before the resolved, when its incident resolves before the next attempt",
    () =>
      Effect.gen(function* () {
        const { disk, outbox, process } = yield* openTimeline({ process: { delivers: false } })
        yield* disk.turns("critical")
        const [claimed] = yield* claimItems(process.commits, CLAIMS)
        const { claim } = claimed ?? assert.fail("nothing was claimed")
        yield* process.commits.transact(
          recordResults([{ claim, result: { outcome: "refused", error: "404" }, random: 0.5 }]),
        )
        yield* outbox.is("firing failed")
        yield* process.operations.replay(outbox.item().id)
        yield* disk.turns("ok")
        yield* outbox.is("firing pending", "resolved pending")
      }),
  )

  it.effect("keeps that it was attempted where its next attempt does not begin", () =>
    Effect.gen(function* () {
      const { after, disk, outbox, process } = yield* openTimeline({ process: { delivers: false } })
      yield* disk.turns("critical")
      const ends = Effect.fnUntraced(function* (result: AttemptResult) {
        const [claimed] = yield* claimItems(process.commits, CLAIMS)
        const { claim } = claimed ?? assert.fail("nothing was claimed")
        yield* process.commits.transact(recordResults([{ claim, result, random: 0.5 }]))
      })
      yield* ends({ outcome: "refused", error: "404" })
      yield* process.operations.replay(outbox.item().id)
      yield* after("1 minute")
      yield* ends({ outcome: "unsent" })
      yield* disk.turns("ok")
      yield* outbox.is("firing pending", "resolved pending")
    }),
  )

  it.effect("puts it before what a policy made owed", () =>
    Effect.gen(function* () {
      const { outbox, process, replay, webhook } = yield* openCritical(refused)
      const item = outbox.item()
      yield* transact(process.storage, function* (unit) {
        yield { rows: { outbox: [item.id] } }
        unit.outbox.put({ ...item, is_backfill: true })
      })
      yield* webhook.answers(deferred)
      yield* replay()
      assert.isFalse(outbox.item().is_backfill)
    }),
  )

  it.effect("is refused for an item that has not failed", () =>
    Effect.gen(function* () {
      const { outbox, replay } = yield* openCritical(deferred)
      yield* outbox.is("firing retry")
      const before = outbox.items()
      assert.instanceOf(yield* Effect.flip(replay()), StateConflict)
      assert.deepStrictEqual(outbox.items(), before)
    }),
  )

  it.effect("is refused a second time", () =>
    Effect.gen(function* () {
      const { process, outbox } = yield* openCritical(refused)
      const replay = process.operations.replay(outbox.item().id)
      assert.deepStrictEqual(yield* replay, { count: 1 })
      assert.instanceOf(yield* Effect.flip(replay), StateConflict)
    }),
  )

  it.effect("is refused for a firing of a resolved incident, and allowed for the resolved", () =>
    Effect.gen(function* () {
      const { webhook, outbox, replay } = yield* openEnded
      const error = yield* Effect.flip(replay(0))
      assert.instanceOf(error, StateConflict)
      assert.match(error.message, /resolved/)
      yield* webhook.answers(delivered)
      assert.deepStrictEqual(yield* replay(1), { count: 1 })
      yield* outbox.is("firing failed", "resolved sent")
    }),
  )

  it.effect("is refused for an unknown ID, and for an item whose incident has expired", () =>
    Effect.gen(function* () {
      const { process, outbox, replay } = yield* openEnded
      const unknown = OutboxId.make("0190b3a4-0000-7000-8000-000000000000")
      assert.instanceOf(yield* Effect.flip(process.operations.replay(unknown)), NotFound)
      const inAnHour = Instant.plus(yield* Instant.now, Duration.hours(1))
      yield* expireAll(process.storage, { rule: "incidents", before: inAnHour, limit: 100 })
      const error = yield* Effect.flip(replay(1))
      assert.instanceOf(error, StateConflict)
      assert.match(error.message, /retention/)
      yield* outbox.is("firing failed", "resolved failed")
    }),
  )

  it.effect("puts it before the later items of its incident", () =>
    Effect.gen(function* () {
      const { webhook, disk, outbox, after, replay, receivers } = yield* openCritical(refused)
      yield* disk.turns("ok", { loud: false })
      yield* disk.turns("warning")
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      yield* outbox.is("firing failed", "firing failed", "firing retry")
      assert.deepStrictEqual(yield* replay(1), { count: 1 })
      assert.strictEqual(receivers.attempts.at(-1)?.notification.id, outbox.item(1).id)
      yield* webhook.answers(delivered)
      yield* after("20 seconds")
      yield* webhook.has("firing warning a/disk", "firing critical a/disk")
    }),
  )
})
