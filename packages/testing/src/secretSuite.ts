import { assert, describe, it } from "@effect/vitest"
import { MOST_SECRET_BYTES, MOST_SECRETS } from "@tocsin/contract/receivers/ReceiverSecrets"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { applyPolicy } from "@tocsin/core/heart/policy/applyPolicy"
import { removeSecrets, storeSecrets } from "@tocsin/core/features/receivers/secretDecisions"
import { sealAgain } from "@tocsin/core/kernel/unitOfWork/sealAgain"
import { Effect } from "effect"
import { assertSame } from "./assertSame.ts"
import { range } from "./numbers.ts"
import { atOnce, race } from "./race.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const secretsOf = (name: string, ciphertext = `of ${name}`) => ({
  name: NotifierName.make(name),
  keys: ["token", "url"] as const,
  ciphertext,
  key_id: "0a1b2c3d",
})

const store = ({ storage }: Replica, name: string, ciphertext?: string) =>
  transact(storage, storeSecrets(secretsOf(name, ciphertext), signedBy("eva")))

const remove = ({ storage }: Replica, name: string, version: number) =>
  transact(storage, removeSecrets(NotifierName.make(name), version, signedBy("eva")))

const names = (replica: Replica) =>
  Effect.map(rowsOf(replica, "secrets"), (rows) => rows.map(({ name }) => name))

/** Decisions about stored secrets of receivers: their bound, and when they may go. */
export const secretSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("stored secrets", () => {
    it.effect(
      "are replaced as a whole, encrypted again unless they changed, and audited by their names",
      () =>
        Effect.gen(function* () {
          const replica = yield* openReplica(subject)
          yield* store(replica, "chat", "first")
          const ciphertext = "second"
          const second = yield* store(replica, "chat", ciphertext)
          assert.deepInclude(second, { ciphertext, changed_by: "eva" })
          const again = (former: string) =>
            transact(
              replica.storage,
              sealAgain("receiver_secrets", NotifierName.make("chat"), secretsOf("chat", former), {
                ciphertext: "again",
                key_id: "ff",
              }),
            )
          yield* again("first")
          assertSame(yield* rowsOf(replica, "secrets"), [second])
          yield* again(ciphertext)
          assertSame(yield* rowsOf(replica, "secrets"), [{ ...second, ciphertext: "again", key_id: "ff" }])
          assert.strictEqual(yield* remove(replica, "chat", 0), 1)
          assert.strictEqual(yield* remove(replica, "chat", 0), 0)
          const audited = yield* rowsOf(replica, "audit")
          // All of one moment.
          assert.deepStrictEqual(
            audited.map(({ action, parameters }) => `${action} ${parameters?.["keys"]}`).toSorted(),
            ["secret.removed undefined", "secret.stored token, url", "secret.stored token, url"],
          )
          assert.deepStrictEqual(audited[0]?.subjects, [{ kind: "secret", id: "chat" }])
        }),
    )

    it.effect("stay while a newer policy than the one that was looked at may name them", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* store(replica, "chat")
        const applied = { hash: "hash", text: "{}", replaces: undefined }
        yield* transact(replica.storage, applyPolicy(applied, "none", signedBy("eva")))
        assert.isUndefined(yield* remove(replica, "chat", 0))
        assert.deepStrictEqual(yield* names(replica), ["chat"])
        assert.strictEqual(yield* remove(replica, "chat", 1), 1)
      }),
    )

    it.effect("have 4 MiB together at most, those that are replaced left out", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const half = "x".repeat(MOST_SECRET_BYTES / 2)
        yield* store(replica, "chat", half)
        assert.isDefined(yield* store(replica, "phone", half))
        assert.isUndefined(yield* store(replica, "pager", "x"))
        assert.isUndefined(yield* store(replica, "chat", `${half}x`))
        assert.isDefined(yield* store(replica, "chat", half.slice(1)))
        assert.isDefined(yield* store(replica, "pager", "x"))
        assert.deepStrictEqual(yield* names(replica), ["chat", "pager", "phone"])
      }),
    )
  })
}

/** The bound of stored secrets, where they are stored at the same time. */
export const secretRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "a thousand receivers have stored secrets at most" }, (replica) =>
    Effect.gen(function* () {
      const { changed_at, changed_by } = (yield* store(replica(0), "first")) ?? assert.fail("none is stored")
      const others = range(MOST_SECRETS - 4).map((n) => secretsOf(`other_${n}`))
      yield* write(replica(0), [{ groups: { receiver_secrets: ["all"] } }], (unit) => {
        for (const row of others) unit.of("receiver_secrets").put({ ...row, changed_at, changed_by })
      })
      const stored = yield* Effect.forEach(range(8), (n) => store(replica(n), `more_${n}`), atOnce)
      assert.strictEqual(stored.filter((row) => row !== undefined).length, 3)
      assert.isDefined(yield* store(replica(1), "first"))
      assert.strictEqual(yield* remove(replica(0), "first", 0), 1)
      assert.isDefined(yield* store(replica(0), "last"))
      assert.strictEqual((yield* names(replica(0))).length, MOST_SECRETS)
    }),
  )
}
