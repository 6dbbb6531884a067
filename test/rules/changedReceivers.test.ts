import { assert, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { endReplica, reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import * as Instant from "@tocsin/contract/formats/Instant"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

/** How a process reaches its receivers, by name; not at all where the entry begins with `-`. */
type Reached = Readonly<Record<string, string>>

/** Processes of an installation, each with the receivers that its report finds reached in another way. */
const openProcesses = () => {
  const storage = MemoryStorage.make(new MemoryTables())
  const started = new Map<string, Instant.Instant>()
  const report = Effect.fnUntraced(function* (id: string, reached: Reached) {
    yield* TestClock.adjust("10 seconds")
    const started_at = started.get(id) ?? (yield* Instant.now)
    started.set(id, started_at)
    const unusable = Object.entries(reached).filter(([, entry]) => entry.startsWith("-"))
    const { changed } = yield* transact(
      storage,
      reportReplica(
        {
          id,
          version: "1",
          policy_hash: "a",
          started_at,
          receivers: Object.keys(reached),
          entries: new Map(Object.entries(reached)),
          unavailable: new Map(unusable.map(([name]) => [name, "no file"])),
          probes: false,
          isEmptyPolicy: false,
        },
        signedBy(id),
      ),
    )
    return changed
  })
  const end = (id: string) => Effect.andThen(TestClock.adjust("1 second"), transact(storage, endReplica(id)))
  return { report, end }
}

it.effect("a receiver that no start could use is changed once it is reached in another way", () =>
  Effect.gen(function* () {
    const { end, report } = openProcesses()
    yield* report("one", { pager: "refused" })
    yield* end("one")
    assert.deepStrictEqual(yield* report("two", { pager: "-" }), [])
    yield* end("two")
    assert.deepStrictEqual(yield* report("three", { pager: "-" }), [])
    assert.deepStrictEqual(yield* report("three", { pager: "other" }), ["pager"])
    yield* end("three")
    assert.deepStrictEqual(yield* report("four", { pager: "-" }), [])
    assert.deepStrictEqual(
      yield* report("four", { pager: "other" }),
      [],
      "it was without its file for a while",
    )
  }),
)

it.effect("a change counts at one start, though the row of a removed receiver remembers how it was", () =>
  Effect.gen(function* () {
    const { end, report } = openProcesses()
    yield* report("one", { pager: "former", removed: "x" })
    yield* end("one")
    assert.deepStrictEqual(yield* report("two", { pager: "present" }), ["pager"])
    assert.deepStrictEqual(yield* report("three", { pager: "present" }), [], "beside one that runs")
    yield* end("two")
    yield* end("three")
    assert.deepStrictEqual(yield* report("four", { pager: "present" }), [], "after those")
    assert.deepStrictEqual(yield* report("five", { pager: "former" }), ["pager"], "a change back")
  }),
)

it.effect("a change counts again after each that still had the former entry, and may have been refused", () =>
  Effect.gen(function* () {
    const { end, report } = openProcesses()
    yield* report("one", { pager: "former", removed: "x" })
    assert.deepStrictEqual(yield* report("two", { pager: "present" }), ["pager"])
    assert.deepStrictEqual(yield* report("three", { pager: "present" }), ["pager"], "one of them runs")
    yield* end("one")
    assert.deepStrictEqual(yield* report("four", { pager: "present" }), ["pager"], "it ran until now")
    assert.deepStrictEqual(yield* report("five", { pager: "present" }), [])
  }),
)
