import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Commits } from "@tocsin/core/engine/commits/Commits"
import { Receivers } from "@tocsin/core/notifications/Receivers"
import { PolicyInForce } from "@tocsin/core/policy/PolicyInForce"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import * as Delivery from "@tocsin/core/usecases/Delivery"
import { OutboxSignal } from "@tocsin/core/usecases/OutboxSignal"
import { layer } from "@effect/vitest"
import { openReplica } from "@tocsin/testing/Replica"
import { enroll, eventOf, send } from "@tocsin/testing/samples"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { delivered, makeReceivers } from "../service/Receivers.ts"

/**
 * Time stands still unless a test moves it, so delivery's regular poll of the outbox finds nothing.
 */
layer(ScratchPostgres.layer)("a notification that its replica does not deliver", (it) => {
  it.effect("is delivered by another replica within two seconds, whether or not the first is running", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const client = PgStorage.layer({ url })
      const attempts = yield* Queue.unbounded<void>()
      const answerTo = () => {
        Queue.offerUnsafe(attempts, undefined)
        return delivered
      }
      const receivers = makeReceivers({ answerTo })
      yield* Layer.build(
        Delivery.layer.pipe(
          Layer.provide(OutboxSignal.layer),
          Layer.provide(Commits.layer),
          Layer.provide(client),
          Layer.provide([PolicyInForce.layer, Receivers.layer]),
          Layer.provide(Layer.succeed(Notifiers, new Map([["debug", receivers.notifier("debug", "other")]]))),
          Layer.fresh,
        ),
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const replica = yield* openReplica({ name: "PostgreSQL", place: Layer.empty, client })
          yield* enroll(replica, "a")
          yield* send(replica, "a", [eventOf(1, { check_id: "announced" })])
          yield* Queue.take(attempts)
          yield* send(replica, "a", [eventOf(2, { check_id: "within-the-same-second" })])
        }),
      )
      yield* TestClock.adjust("2 seconds")
      yield* Queue.take(attempts)
    }),
  )
})
