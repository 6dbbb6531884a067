import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { ReplicaIdentity } from "@tocsin/core/heart/usecases/Replicas"
import * as Delivery from "@tocsin/core/heart/usecases/Delivery"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { assert, layer } from "@effect/vitest"
import { openReplica } from "@tocsin/testing/Replica"
import { enroll, eventOf, send } from "@tocsin/testing/samples"
import { Effect, Layer, Queue, type Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { throughProtocol } from "../postgres/throughProtocol.ts"
import { delivered, makeReceivers } from "../service/Receivers.ts"
import { settled } from "../service/settled.ts"

/** Delivers what others enqueue, on its own connections. Takes each attempt from the queue. */
const openDelivery = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const attempts = yield* Queue.unbounded<void>()
  const answerTo = () => {
    Queue.offerUnsafe(attempts, undefined)
    return delivered
  }
  const receivers = makeReceivers({ answerTo })
  yield* Layer.build(
    Delivery.layer.pipe(
      Layer.provide(OutboxSignal.layer),
      Layer.provide(ReplicaIdentity.layer),
      Layer.provide(Commits.layer),
      Layer.provide(PgStorage.layer({ url })),
      Layer.provide([PolicyInForce.layer, Receivers.layer, NodeHashing.layer(), SeededIds.layer("other")]),
      Layer.provide(Layer.succeed(Notifiers, new Map([["debug", receivers.notifier("debug", "other")]]))),
      Layer.fresh,
    ),
  )
  return attempts
})

/** Another replica, without delivery, whose agent is accepted. */
const openFront = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const replica = yield* openReplica({
    name: "PostgreSQL",
    place: Layer.empty,
    client: PgStorage.layer({ url }),
  })
  yield* enroll(replica, "a")
  return replica
})

const ANNOUNCEMENT = "A"

/** A way to a database on which announcements arrive as often as said, and how many were sent. */
const openListening = Effect.fnUntraced(function* (times: number) {
  const { url } = yield* ScratchPostgres
  const sent = yield* Queue.unbounded<void>()
  const listens = yield* Queue.unbounded<void>()
  const through = yield* throughProtocol(url, () => ({
    fromServer: ({ type, bytes }) => {
      if (type === "C" && bytes.includes("LISTEN")) Queue.offerUnsafe(listens, undefined)
      if (type !== ANNOUNCEMENT) return [bytes]
      Queue.offerUnsafe(sent, undefined)
      return Array.from({ length: times }, () => bytes)
    },
  }))
  const attempts = yield* openDelivery(through)
  yield* Queue.take(listens)
  return { attempts, sent, front: yield* openFront(url) }
})

/**
 * Time stands still unless a test moves it, so delivery's regular poll of the outbox finds nothing.
 */
layer(ScratchPostgres.layerMigrated)("a notification that its replica does not deliver", (it) => {
  it.effect("is delivered by another replica within two seconds, whether or not the first is running", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const attempts = yield* openDelivery(url)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const replica = yield* openFront(url)
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

layer(ScratchPostgres.layerMigrated)("a notification whose announcement is lost", (it) => {
  it.effect("is delivered by another replica within 15 seconds", () =>
    Effect.gen(function* () {
      const { attempts, front, sent } = yield* openListening(0)
      yield* send(front, "a", [eventOf(1)])
      yield* Queue.take(sent)
      yield* settled
      assert.strictEqual(yield* Queue.size(attempts), 0)
      yield* TestClock.adjust("15 seconds")
      yield* Queue.take(attempts)
    }),
  )
})

layer(ScratchPostgres.layerMigrated)("a notification whose announcement arrives three times", (it) => {
  it.effect("is delivered once", () =>
    Effect.gen(function* () {
      const { attempts, front, sent } = yield* openListening(3)
      yield* send(front, "a", [eventOf(1)])
      yield* Queue.take(sent)
      yield* Queue.take(attempts)
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.strictEqual(yield* Queue.size(attempts), 0)
    }),
  )
})
