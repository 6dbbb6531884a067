import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { SessionId } from "@tocsin/contract/signIn/Sessions"
import { beginSession, endSession } from "@tocsin/core/features/signIn/sessionDecisions"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { assertSame } from "./assertSame.ts"
import { expireAll } from "./expireAll.ts"
import { atOnce, race } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const HOUR = Duration.hours(1)

const idOf = (n: number) => SessionId.make(n.toString(16).padStart(32, "0"))

/** Begins session `n` of a person. */
const begin = (
  replica: Replica,
  n: number,
  { identity, name = "oidc:ann" }: { identity: string; name?: string },
) =>
  transact(
    replica.storage,
    beginSession(
      { id: idOf(n), issuer: "https://id.example", identity, name, role: "respond", lasts: HOUR },
      // Where the oldest session ends, there is another row of the audit.
      { ...signedBy("system"), newAuditId: (now) => signedBy("system").newAuditId(now) },
    ),
  )

const ANN = "a".repeat(64)
const OTHER = "0123456".padEnd(64, "f")

/** Decisions about sessions of people who sign in (docs/rules.md#sign-in). */
export const sessionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("sessions", () => {
    it.effect("are 20 of one identity at most: the oldest ends, and the audit says so", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* begin(replica, 99, { identity: OTHER, name: "oidc:bob" })
        for (let n = 0; n < 22; n++) {
          yield* begin(replica, n, { identity: ANN })
          yield* TestClock.adjust("1 second")
        }
        const kept = (yield* rowsOf(replica, "sessions")).filter(({ identity }) => identity === ANN)
        assert.sameMembers(
          kept.map(({ id }) => id),
          Array.from({ length: 20 }, (_, n) => idOf(n + 2)),
        )
        const ended = (yield* rowsOf(replica, "audit")).filter(({ action }) => action === "session.ended")
        assert.sameMembers(
          ended.flatMap(({ subjects }) => subjects.map(({ id }) => id)),
          [idOf(0), idOf(1)],
        )
      }),
    )

    it.effect("give a name to one identity for good", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        assert.strictEqual((yield* begin(replica, 1, { identity: ANN })).name, "oidc:ann")
        assert.strictEqual((yield* begin(replica, 2, { identity: OTHER })).name, "oidc:ann.012345")
        yield* TestClock.adjust("2 hours")
        const before = yield* Instant.now
        yield* expireAll(replica.storage, { rule: "sessions", before, limit: 9 })
        assertSame(yield* rowsOf(replica, "sessions"), [])
        assert.strictEqual((yield* begin(replica, 3, { identity: OTHER })).name, "oidc:ann.012345")
        assert.strictEqual((yield* begin(replica, 4, { identity: ANN })).name, "oidc:ann")
        // Another one who is called like that has more digits.
        const third = { identity: "b".repeat(64), name: "oidc:ann.012345" }
        assert.strictEqual((yield* begin(replica, 5, third)).name, "oidc:ann.012345.bbbbbb")
      }),
    )

    it.effect("end all at once by the name of their person, and no other's", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const end = (name: string) =>
          transact(replica.storage, endSession(name, "session.ended", signedBy("eva")))
        yield* begin(replica, 1, { identity: ANN })
        yield* begin(replica, 2, { identity: ANN, name: "oidc:ann-married" })
        yield* begin(replica, 3, { identity: OTHER, name: "oidc:bob" })
        assert.deepStrictEqual(
          [yield* end("oidc:nobody"), yield* end("oidc:ann"), yield* end("oidc:ann")],
          [0, 2, 0],
        )
        assert.deepStrictEqual(
          (yield* rowsOf(replica, "sessions")).map(({ name }) => name),
          ["oidc:bob"],
        )
        const [ended] = (yield* rowsOf(replica, "audit")).filter(({ action }) => action === "session.ended")
        assert.sameMembers(ended?.subjects.map(({ id }) => id) ?? [], [idOf(1), idOf(2)])
      }),
    )

    it.effect("end once, by hand or in time, and are then removed", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const end = (n: number) =>
          transact(replica.storage, endSession(idOf(n), "session.ended", signedBy("eva")))
        yield* begin(replica, 1, { identity: ANN })
        yield* begin(replica, 2, { identity: ANN })
        assert.deepStrictEqual([yield* end(1), yield* end(1)], [1, 0])
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* end(2), 0)
      }),
    )
  })
}

/** Sessions that begin at the same time. */
export const sessionRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "of two identities of one name, one has it, and the other its own" }, (replica) =>
    Effect.gen(function* () {
      for (let round = 0; round < 4; round++) {
        const name = `oidc:eve-${round}`
        const begun = yield* Effect.forEach(
          [ANN, OTHER],
          (identity, n) => begin(replica(n), 2 * round + n, { identity, name }),
          atOnce,
        )
        const names = begun.map((one) => one.name)
        assert.strictEqual(new Set(names).size, 2)
        assert.include(names, name)
      }
    }),
  )
}
