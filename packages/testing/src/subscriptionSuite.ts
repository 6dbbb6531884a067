import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { SubscriptionId } from "@tocsin/contract/push/Push"
import { SessionId } from "@tocsin/contract/signIn/Sessions"
import { storeSubscription, establishKey } from "@tocsin/core/features/push/subscriptionDecisions"
import { beginSession, endSession } from "@tocsin/core/features/signIn/sessionDecisions"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expireAll } from "./expireAll.ts"
import { atOnce, race } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const PUBLIC = "the key"

const key = { name: "vapid", public_key: PUBLIC, ciphertext: "sealed", key_id: "00000000" } as const

/** The signature of a change that writes several rows of the audit. */
const several = (actor: string) => ({
  ...signedBy(actor),
  newAuditId: (now: Instant.Instant) => signedBy(actor).newAuditId(now),
})

const idOf = (n: number) => SubscriptionId.make(n.toString(16).padStart(32, "0"))
const SESSION = SessionId.make("a".repeat(32))

const add = ({ storage }: Replica, n: number, operator: string, session?: SessionId) =>
  transact(
    storage,
    storeSubscription(
      {
        id: idOf(n),
        operator,
        name: "Firefox on Linux",
        service: "push.example",
        ciphertext: `sealed for ${operator}`,
        key_id: "00000000",
        session,
      },
      PUBLIC,
      several(operator),
    ),
  )

/** Browsers that an operator adds at the same time. */
export const subscriptionRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "of browsers that an operator adds at the same time, 20 are stored" }, (replica) =>
    Effect.gen(function* () {
      yield* transact(replica(0).storage, establishKey(key))
      const made = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, n) => n),
        (n) => add(replica(n), n, "ann"),
        atOnce,
      )
      assert.lengthOf(
        made.filter(({ outcome }) => outcome === "created"),
        20,
      )
      assert.lengthOf(yield* rowsOf(replica(0), "subscriptions"), 20)
    }),
  )
}

/** Decisions about browsers that get notifications (docs/rules.md#browsers). */
export const subscriptionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("browsers of people who sign in", () => {
    const opened = Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* transact(replica.storage, establishKey(key))
      const begin = transact(
        replica.storage,
        beginSession(
          {
            id: SESSION,
            issuer: "https://id.example",
            identity: "b".repeat(64),
            name: "oidc:ann",
            role: "read",
            lasts: Duration.hours(8),
          },
          several("system"),
        ),
      )
      const left = Effect.map(rowsOf(replica, "subscriptions"), (rows) => rows.map(({ id }) => id))
      const end = (named: string, action: "session.ended" | "session.signed_out") =>
        transact(replica.storage, endSession(named, action, several("eve")))
      return { replica, begin, left, end }
    })

    it.effect("leave by a sign-out in them alone", () =>
      Effect.gen(function* () {
        const { begin, end, left, replica } = yield* opened
        yield* begin
        yield* add(replica, 1, "oidc:ann", SESSION)
        yield* add(replica, 2, "oidc:ann", SessionId.make("c".repeat(32)))
        yield* end(SESSION, "session.signed_out")
        assert.deepStrictEqual(yield* left, [idOf(2)])
      }),
    )

    it.effect("leave when an admin ends a session of their person", () =>
      Effect.gen(function* () {
        const { begin, end, left, replica } = yield* opened
        yield* begin
        yield* add(replica, 1, "oidc:ann", SESSION)
        yield* add(replica, 2, "oidc:ann", SessionId.make("c".repeat(32)))
        yield* add(replica, 3, "bob")
        yield* end("oidc:ann", "session.ended")
        assert.deepStrictEqual(yield* left, [idOf(3)])
      }),
    )

    it.effect("outlive the session, and leave 90 days after the last sign-in", () =>
      Effect.gen(function* () {
        const { begin, left, replica } = yield* opened
        yield* begin
        yield* add(replica, 1, "oidc:ann", SESSION)
        yield* add(replica, 2, "bob")
        const expire = Effect.flatMap(Instant.now, (before) =>
          expireAll(replica.storage, { rule: "subscriptions", before, limit: 9 }),
        )
        yield* TestClock.adjust("60 days")
        yield* begin
        yield* TestClock.adjust("89 days")
        yield* expire
        assert.sameMembers(yield* left, [idOf(1), idOf(2)])
        yield* TestClock.adjust("25 hours")
        yield* expire
        assert.deepStrictEqual(yield* left, [idOf(2)])
      }),
    )
  })
}
