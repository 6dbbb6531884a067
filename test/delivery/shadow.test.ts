import { assert, describe, it } from "@effect/vitest"
import { isShadow, toOutboxItem } from "@tocsin/core/heart/model/OutboxRecord"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { Effect } from "effect"
import { shadow } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

describe("a shadow receiver", () => {
  it.effect("gets nothing, and its rows end when they would have been sent", () =>
    Effect.gen(function* () {
      const { after, disk, outbox, process, service, webhook } = yield* openTimeline()
      yield* webhook.answers(shadow)
      yield* disk.turns("warning")
      yield* after("1 minute")
      yield* disk.turns("critical")
      yield* disk.turns("ok")
      yield* outbox.is("firing discarded", "firing discarded", "resolved discarded")
      yield* webhook.has()
      for (const item of outbox.items()) {
        assert.isTrue(isShadow(item))
        assert.strictEqual(toOutboxItem(item).last_error, "shadow")
        assert.strictEqual(item.first_attempted_at, item.created_at)
        assert.strictEqual(item.updated_at, item.created_at)
      }
      const [incident] = service.rows().incidents.values()
      const detail = toIncidentDetail(
        yield* process.operations.incident(incident?.id ?? assert.fail("there is no incident")),
      )
      const why = "its receiver is a shadow, to which nothing is sent"
      assert.deepStrictEqual(
        detail.deliveries.map((delivery) => delivery.why),
        [why, why, why],
      )
    }),
  )

  it.effect("gets the row of a resolution when an agent is deleted, as one that was notified", () =>
    Effect.gen(function* () {
      const { agent, disk, outbox, webhook } = yield* openTimeline()
      yield* webhook.answers(shadow)
      yield* disk.turns("critical")
      yield* agent().isDeleted
      yield* outbox.is("firing discarded", "resolved discarded")
    }),
  )

  it.effect("of the kind alert_router has no alerts to repeat", () =>
    Effect.gen(function* () {
      const { after, alertRouter, disk, outbox, service } = yield* openTimeline({
        notifiers: ["alert_router"],
      })
      yield* alertRouter.answers(shadow)
      yield* disk.turns("critical")
      yield* after("5 minutes")
      yield* disk.turns("ok")
      yield* outbox.is("firing discarded", "resolved discarded")
      assert.strictEqual(service.rows().alerts.size, 0)
      assert.deepStrictEqual(service.receivers.repeats, [])
    }),
  )
})
