import { assert, describe, it } from "@effect/vitest"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { DeliveryResult } from "@tocsin/core/heart/notifications/Notifiers"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Duration, Effect } from "effect"
import { testsFrom } from "@tocsin/testing/testsFrom"
import type { TypedReceiver } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

/** A timeline with a receiver that repeats alarms, and what ends them. */
const open = Effect.gen(function* () {
  const ended: Array<IncidentId> = []
  const answers: Array<DeliveryResult> = []
  const pushover: TypedReceiver = {
    kind: "messenger",
    send: (_, arrive) => Effect.as(arrive, { outcome: "delivered" }),
    endAlarm: (incident) =>
      Effect.sync((): DeliveryResult => {
        ended.push(incident)
        return answers.shift() ?? { outcome: "delivered" }
      }),
  }
  const timeline = yield* openTimeline({
    notifiers: ["pushover"],
    types: new Map([["pushover", pushover]]),
    deadAfter: Duration.days(30),
  })
  const { process, service } = timeline
  const acknowledging = Effect.suspend(() => {
    const [incident] = service.rows().incidents.values()
    const id = incident?.id ?? assert.fail("no incident")
    return Effect.orDie(process.operations.acknowledge(id, {})).pipe(
      Effect.provideService(CurrentOperator, libraryOperator("eva")),
    )
  })
  return {
    ...timeline,
    acknowledging,
    answers,
    hasEnded: (count: number) => Effect.sync(() => assert.lengthOf(ended, count)),
  }
})

const test = testsFrom(open, it.effect)

describe("an alarm that was accepted", () => {
  test("ends within 15 s of the acknowledgement, once", function* ({ acknowledging, after, disk, hasEnded }) {
    yield* disk.turns("critical")
    yield* after("1 minute")
    yield* hasEnded(0)
    yield* acknowledging
    yield* after("15 seconds")
    yield* hasEnded(1)
    yield* after("40 minutes")
    yield* hasEnded(1)
  })

  test("ends within 15 s of a fall below critical, and of a resolution after it rang again", function* ({
    after,
    disk,
    hasEnded,
  }) {
    yield* disk.turns("critical")
    yield* after("1 minute")
    yield* disk.turns("warning")
    yield* after("15 seconds")
    yield* hasEnded(1)
    yield* after("20 minutes")
    yield* disk.turns("critical")
    yield* after("1 minute")
    yield* disk.turns("ok")
    yield* after("15 seconds")
    yield* hasEnded(2)
  })

  test("is ended again while that fails, for 30 minutes, and makes no row", function* ({
    after,
    answers,
    disk,
    hasEnded,
    outbox,
  }) {
    const failed = { outcome: "deferred", error: "no answer" } as const
    answers.push(failed, failed)
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* after("15 seconds")
    yield* outbox.is("firing sent", "resolved sent")
    yield* after("1 minute")
    yield* hasEnded(3)
    answers.push(...Array.from({ length: 1_000 }, () => failed))
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* after("40 minutes")
    const tried = answers.length
    yield* after("10 minutes")
    assert.strictEqual(answers.length, tried)
    assert.isBelow(tried, 950)
  })

  test("of a warning is none", function* ({ after, disk, hasEnded }) {
    yield* disk.turns("warning")
    yield* disk.turns("ok")
    yield* after("1 minute")
    yield* hasEnded(0)
  })
})
