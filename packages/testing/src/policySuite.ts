import { assert, describe, it } from "@effect/vitest"
import { KEPT_VERSIONS } from "@tocsin/core/heart/model/PolicyVersionRecord"
import { applyPolicy, type PolicyToApply } from "@tocsin/core/heart/policy/applyPolicy"
import { Effect } from "effect"
import { atOnce, race } from "./race.ts"
import { openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const NONE = "hash of no policy"

const apply = (name: string, replaces?: string) => {
  const policy: PolicyToApply = { hash: `hash of ${name}`, text: `# ${name}\n{}`, replaces }
  return applyPolicy(policy, NONE, signedBy("ann"))
}

/** Versions of the policy: their values, which are kept, and who of several applies one. */
export const policySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("versions of the policy", () => {
    it.effect("are the last 100, the newest first, and audited with their text", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const count = KEPT_VERSIONS + 3
        for (let n = 1; n <= count; n++) yield* transact(replica.storage, apply(`policy ${n}`))
        const kept = yield* replica.storage.policyVersions(0, count)
        assert.deepStrictEqual(
          kept.map(({ version }) => version),
          Array.from({ length: KEPT_VERSIONS }, (_, n) => count - n),
        )
        assert.deepStrictEqual(kept[0]?.text, `# policy ${count}\n{}`)
        const [after] = yield* replica.storage.policyVersions(count - 1, count)
        assert.deepStrictEqual(after, kept[0])
        assert.deepStrictEqual(yield* replica.storage.policyVersions(0, 2, count - 1), kept.slice(1, 3))
        assert.deepStrictEqual(
          yield* replica.storage.policyVersions(7, 1, 8),
          kept.slice(count - 8, count - 7),
        )
        assert.deepStrictEqual(
          (yield* replica.storage.policyVersions(0, 2)).map(({ version }) => version),
          [count, count - 1],
        )
        const audited = yield* rowsOf(replica, "audit", { action: "policy.applied" })
        const first = audited.find(({ parameters }) => parameters?.["version"] === 1)
        assert.deepStrictEqual(first?.parameters, { version: 1, former: NONE, text: "# policy 1\n{}" })
        assert.deepStrictEqual(first?.subjects, [{ kind: "policy", id: "hash of policy 1" }])
        assert.strictEqual(audited.length, count)
      }),
    )

    it.effect("replace the required one only, and the same text changes nothing", () =>
      Effect.gen(function* () {
        const { storage, ...replica } = yield* openReplica(subject)
        const refused = yield* transact(storage, apply("first", "hash of another"))
        assert.deepStrictEqual(refused, { outcome: "another", hash: NONE })
        const first = yield* transact(storage, apply("first", NONE))
        assert.strictEqual(first.outcome, "applied")
        assert.deepStrictEqual(yield* transact(storage, apply("second", NONE)), {
          outcome: "another",
          hash: "hash of first",
        })
        // The answer to the first request was lost, and it is repeated.
        assert.deepStrictEqual(yield* transact(storage, apply("first", NONE)), first)
        yield* transact(storage, apply("second", "hash of first"))
        assert.strictEqual((yield* storage.policyVersions(0, 9)).length, 2)
        assert.strictEqual((yield* rowsOf({ storage, ...replica }, "audit")).length, 2)
      }),
    )
  })

  race(subject, { name: "of policies that replace the same one, one is applied" }, (replica) =>
    Effect.gen(function* () {
      const replacing = (former?: string) =>
        Effect.forEach(
          Array.from({ length: 8 }, (_, n) => n),
          (n) => transact(replica(n).storage, apply(`${n} after ${former}`, former)),
          atOnce,
        )
      const applied = (yield* replacing(NONE)).filter(({ outcome }) => outcome === "applied")
      assert.strictEqual(applied.length, 1)
      yield* replacing()
      // Those without a condition follow one another: none overwrites another.
      const versions = yield* replica(0).storage.policyVersions(0, 20)
      assert.deepStrictEqual(
        versions.map(({ version }) => version),
        [9, 8, 7, 6, 5, 4, 3, 2, 1],
      )
    }),
  )
}
