import { assert, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { endReplica, reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import { signedBy } from "@tocsin/testing/signedBy"
import { start } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

it.effect("the audit has each policy put in force, and no restart and no start without a policy", () =>
  Effect.gen(function* () {
    const tables = new MemoryTables()
    const storage = MemoryStorage.make(tables)
    const reports = (id: string, policy_hash: string, entries?: ReadonlyMap<string, string>) =>
      transact(
        storage,
        reportReplica(
          {
            id,
            version: "1",
            policy_hash,
            started_at: start,
            receivers: ["debug"],
            entries,
            probes: false,
            isEmptyPolicy: policy_hash === "none",
          },
          signedBy(id),
        ),
      )
    const audited = () =>
      Array.from(tables.audit.values(), ({ actor, parameters, subjects }) => [
        actor,
        subjects[0]?.id,
        parameters?.["former"],
      ])
    yield* reports("one", "none")
    yield* reports("one", "none")
    assert.deepStrictEqual(audited(), [])
    yield* reports("one", "a")
    yield* reports("one", "a")
    yield* reports("two", "a")
    yield* transact(storage, endReplica("one"))
    yield* TestClock.adjust("1 hour")
    yield* reports("one again", "a")
    yield* reports("two", "a")
    assert.deepStrictEqual(audited(), [["one", "a", "none"]])
    yield* reports("one again", "b")
    yield* reports("two", "b")
    yield* reports("three", "none")
    assert.deepStrictEqual(audited().slice(1), [
      ["one again", "b", "a"],
      ["two", "b", "a"],
      ["three", "none", undefined],
    ])
    // The rows before are of an earlier version, which says nothing of entries.
    const entries = new Map([["debug", "d"]])
    for (const id of ["four", "five", "six"]) yield* reports(id, "b", entries)
    yield* reports("seven", "none", entries)
    assert.deepStrictEqual(audited().slice(4), [["four", "b", undefined]])
  }),
)
