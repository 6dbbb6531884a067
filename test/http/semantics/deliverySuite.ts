import { assert } from "@effect/vitest"
import type { DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { type Item, itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"

const OUTBOX = "/api/v1/notifiers/outbox?sort=created_at&direction=asc"
const critical = { status: "critical", exit_code: 2 }

/** Reads the outbox until it is so. */
const untilOutbox = Effect.fnUntraced(function* (holds: (items: ReadonlyArray<Item>) => boolean) {
  for (;;) {
    const items = yield* itemsOf(OUTBOX)
    if (holds(items)) return items
    yield* Effect.sleep("5 millis")
  }
})

const notifier = (send: Effect.Effect<DeliveryResult>): ReadonlyMap<"debug", Notifier> =>
  new Map([["debug", { kind: "debug" as const, send: () => send, test: Effect.die("nobody tests here") }]])

/** Operators' reads of notifications under way (docs/rules.md#outbox). */
export const deliverySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario(
    "a resolved follows a sent firing",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        yield* push(agent, event(critical))
        const [fired] = yield* untilOutbox(([item]) => item?.["state"] === "sent")
        assert.deepInclude(fired, {
          event_type: "firing",
          attempts: 1,
          next_attempt_at: null,
          last_error: null,
        })
        yield* push(agent, event({ observed_at: "2026-03-01T12:00:01Z" }))
        const [, ended] = yield* untilOutbox(([, item]) => item?.["state"] === "sent")
        assert.deepInclude(ended, {
          event_type: "resolved",
          attempts: 1,
          incident_id: fired?.["incident_id"],
        })
        const told = yield* itemsOf("/api/v1/notifiers/outbox?state=sent&event_type=resolved")
        assert.deepStrictEqual(told[0], ended)
      }),
    { notifiers: notifier(Effect.succeed({ outcome: "delivered" })) },
  )

  scenario(
    "a deferred item shows its error and its next attempt",
    () =>
      Effect.gen(function* () {
        yield* push(yield* acceptedAgent(), event(critical))
        const [item] = yield* untilOutbox(([first]) => first?.["state"] === "retry")
        assert.deepInclude(item, { attempts: 1, last_error: "the receiver answered 503" })
        assert.isAbove(
          Date.parse(String(item?.["next_attempt_at"])),
          Date.parse(String(item?.["updated_at"])),
        )
      }),
    { notifiers: notifier(Effect.succeed({ outcome: "deferred", error: "the receiver answered 503" })) },
  )

  scenario(
    "a refused item has failed",
    () =>
      Effect.gen(function* () {
        yield* push(yield* acceptedAgent(), event(critical))
        const [item] = yield* untilOutbox(([first]) => first?.["state"] === "failed")
        assert.deepInclude(item, {
          attempts: 1,
          last_error: "the receiver answered 404",
          next_attempt_at: null,
        })
      }),
    { notifiers: notifier(Effect.succeed({ outcome: "refused", error: "the receiver answered 404" })) },
  )
}
