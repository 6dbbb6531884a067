import { assert, describe, it } from "@effect/vitest"
import { endReplica, reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { atOnce, race } from "./race.ts"
import { newPlace } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import { start } from "./samples.ts"
import { because, type StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const report = (name: string, policy_hash: string, receivers: ReadonlyArray<string>) =>
  reportReplica(
    {
      id: name,
      version: "1.2.3",
      policy_hash,
      started_at: start,
      receivers,
      probes: false,
      isEmptyPolicy: false,
    },
    signedBy("system"),
  )

const areSeen = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const open = yield* newPlace(subject)
  const [here, there] = [yield* open, yield* open]
  const hashes = (rows: ReadonlyArray<ReplicaRecord>) =>
    rows.map(({ id, policy_hash }) => `${id} ${policy_hash}`).toSorted()
  yield* transact(here.storage, report("here", "a", ["webhook", "chat"]))
  assert.deepStrictEqual(
    hashes((yield* transact(there.storage, report("there", "b", ["webhook"]))).replicas),
    ["here a", "there b"],
  )
  assert.deepStrictEqual(hashes(yield* here.storage.replicas), ["here a", "there b"])
  yield* transact(there.storage, endReplica("there"))
  assert.deepStrictEqual(hashes((yield* transact(here.storage, report("here", "b", ["webhook"]))).replicas), [
    "here b",
    "there b",
  ])
  const row = (yield* there.storage.replicas).find(({ id }) => id === "here")
  assert.deepStrictEqual(
    row?.receivers.map(({ name, left_millis }) => [name, left_millis !== undefined]),
    [
      ["webhook", false],
      ["chat", true],
    ],
  )
  yield* TestClock.adjust("1 minute")
  assert.deepStrictEqual(
    hashes((yield* transact(there.storage, report("again", "b", ["webhook"]))).replicas),
    ["again b", "here b", "there b"],
  )
  // One row for each policy that was put in force, none for the others that followed it.
  const audited = yield* rowsOf(here, "audit")
  assert.deepStrictEqual(
    audited.map(({ parameters, subjects }) => [subjects[0]?.id, parameters?.["former"]]).toSorted(),
    [
      ["a", undefined],
      ["b", undefined],
      ["b", "a"],
    ],
  )
})

/** Rows of processes: their values, and how replicas see each other (docs/rules.md#replicas). */
export const replicaSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("replicas", () => {
    it.effect.skipIf(subject.onlyOneClient !== undefined)(
      `see each other's policies and former receivers${because(subject)}`,
      () => areSeen(subject),
    )
  })

  race(subject, { name: "of reports, each replica keeps its row" }, (replica) =>
    Effect.gen(function* () {
      const reports = Array.from({ length: 8 }, (_, n) => n)
      // The first reports of all, two of them of one replica: no row guards what they find.
      yield* Effect.forEach(
        [0, ...reports],
        (n) => transact(replica(n % 2).storage, report(`replica ${n}`, "first", ["webhook"])),
        atOnce,
      )
      const replaced = yield* rowsOf(replica(0), "audit")
      assert.deepStrictEqual(replaced.length, 1)
      for (let round = 0; round < 4; round++)
        yield* Effect.forEach(
          reports,
          (n) => transact(replica(n % 2).storage, report(`replica ${n}`, `${round}`, ["webhook"])),
          atOnce,
        )
      const rows = yield* replica(0).storage.replicas
      assert.deepStrictEqual(new Set(rows.map(({ id }) => id)).size, 8)
      assert.isTrue(rows.every(({ policy_hash }) => policy_hash === "3"))
    }),
  )
}
