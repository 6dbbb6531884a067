import { delivered, deferred } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("a receiver learns", () => {
  it.effect("why it gets each firing, and nothing of causes with the resolution", () =>
    Effect.gen(function* () {
      const { disk, service, after } = yield* openTimeline()
      yield* disk.turns("warning")
      yield* after("1 minute")
      yield* disk.turns("critical")
      yield* disk.turns("ok")
      yield* after("1 minute")
      assert.deepStrictEqual(
        service.receivers.arrivals.map(({ notification: { receiver, event_type, cause } }) => [
          receiver,
          event_type,
          cause,
        ]),
        [
          ["webhook", "firing", "opened"],
          ["webhook", "firing", "worsened"],
          ["webhook", "resolved", undefined],
        ],
      )
    }),
  )

  it.effect("the same age at every attempt", () =>
    Effect.gen(function* () {
      const { disk, service, webhook, after } = yield* openTimeline()
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      yield* after("10 minutes")
      yield* webhook.answers(delivered)
      yield* after("10 minutes")
      const attempts = service.receivers.attempts.map(({ notification }) => notification)
      assert.isAbove(attempts.length, 2)
      assert.deepStrictEqual(new Set(attempts.map(({ age_starts_at }) => age_starts_at)).size, 1)
    }),
  )
})
