import { assert, describe, it } from "@effect/vitest"
import { recordBounce } from "@tocsin/core/heart/notifications/recordResults"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { Effect } from "effect"
import { deferred } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

/** A timeline, and what its outbox becomes by delivery reports. */
const open = Effect.fnUntraced(function* () {
  const timeline = yield* openTimeline()
  const { outbox, process } = timeline
  const bounces = (at: number, hasOthers = false) =>
    Effect.suspend(() =>
      process.commits.transact(recordBounce({ notification: outbox.item(at), status: "5.1.1", hasOthers })),
    )
  return { ...timeline, bounces }
})

const test = testsFrom(open(), it.effect)

describe("a mail that a delivery report returns", () => {
  test("is failed, and counts as refused: no resolution follows", function* (opened) {
    const { after, bounces, disk, outbox, webhook } = opened
    yield* disk.turns("critical")
    yield* bounces(0)
    yield* outbox.is("firing failed")
    assert.strictEqual(outbox.item().last_error, "bounced: 5.1.1")
    yield* disk.turns("ok")
    yield* after("1 day")
    yield* outbox.is("firing failed")
    yield* webhook.has("firing critical a/disk")
  })

  test("counts as refused also where the report comes after the last moment of an attempt", function* (opened) {
    const { after, bounces, disk, outbox, webhook } = opened
    yield* disk.turns("critical")
    yield* after("2 days")
    yield* bounces(0)
    yield* disk.turns("ok")
    yield* outbox.is("firing failed")
    yield* webhook.has("firing critical a/disk")
  })

  test("leaves a resolution that was attempted", function* ({ bounces, disk, outbox, webhook }) {
    yield* disk.turns("critical")
    yield* webhook.answers(deferred)
    yield* disk.turns("ok")
    yield* bounces(0)
    yield* outbox.is("firing failed", "resolved retry")
  })

  test("stays sent where others may have it", function* ({ bounces, disk, outbox }) {
    yield* disk.turns("critical")
    yield* bounces(0, true)
    yield* outbox.is("firing sent")
    assert.strictEqual(outbox.item().last_error, "bounced: 5.1.1")
  })

  test("changes nothing after 7 days, a second time, or before it was sent", function* (opened) {
    const { after, bounces, disk, outbox, webhook } = opened
    yield* disk.turns("critical")
    yield* after("7 days")
    yield* bounces(0)
    yield* outbox.is("firing sent")
    yield* disk.turns("ok")
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* bounces(2)
    yield* outbox.is("firing sent", "resolved sent", "firing retry")
  })
})
