import { assert, describe, it } from "@effect/vitest"
import { KEPT_VERSIONS, type PolicyVersionRecord } from "@tocsin/core/model/PolicyVersionRecord"
import { applyPolicy, type PolicyToApply } from "@tocsin/core/policy/applyPolicy"
import { Effect } from "effect"
import * as fc from "fast-check"
import { assertSame } from "./assertSame.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { rowOf } from "./observe.ts"
import { atOnce, race } from "./race.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { instant, plain } from "./rows/values.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const RUNS = 40
const NONE = "hash of no policy"

/** A policy of lines, as people write it. */
const lines = fc.array(plain(64), { maxLength: 20 }).map((all) => all.join("\n"))

const versionRecord: fc.Arbitrary<PolicyVersionRecord> = fc.record({
  version: fc.integer({ min: 1, max: 2_147_483_647 }),
  hash: plain(64),
  text: lines,
  applied_at: instant,
  applied_by: plain(64),
})

const roundTrip = (replica: Replica) =>
  forAll(versionRecord, { runs: RUNS }, (row) =>
    Effect.gen(function* () {
      const stored = [{ rows: { policy_version: [row.version] } }] as const
      yield* write(replica, stored, (unit) => unit.of("policy_version").put(row))
      assertSame(yield* rowOf(replica, "policy_version", row.version), row)
      assertSame(yield* replica.storage.policyVersions(0, 2), [row])
      assertSame(yield* replica.storage.policyVersions(row.version, 2), [])
      yield* write(replica, stored, (unit) => unit.of("policy_version").delete(row.version))
      assertSame(yield* replica.storage.policyVersions(0, 2), [])
    }),
  )

const apply = (name: string, replaces?: string) => {
  const policy: PolicyToApply = { hash: `hash of ${name}`, text: `# ${name}\n{}`, replaces }
  return applyPolicy(policy, NONE, signedBy("ann"))
}

/** Versions of the policy: their values, which are kept, and who of several applies one. */
export const policySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("versions of the policy", () => {
    it.effect(
      "are read as they were written",
      () => Effect.flatMap(openReplica(subject), roundTrip),
      PROPERTY_TIMEOUT_MILLIS,
    )

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
