import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import type { KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import { removeCheck } from "@tocsin/core/heart/checks/checkActions"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { RetentionRules } from "@tocsin/core/lists/retention/RetentionRules"
import { assert, describe, it } from "@effect/vitest"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { incidentRecord, write } from "@tocsin/testing/records"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { enroll, eventOf, send, START_MILLIS } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

const DISK = { agent_id: AgentId.make("a"), check_id: CheckId.make("disk") }

type Outcome = "kept" | "rejected" | "kept and rejected"
type Entries = Map<string, string>

const apply = (entries: Entries, changes: ReadonlyMap<string, string | undefined>): void => {
  for (const [key, value] of changes) {
    if (value === undefined) entries.delete(key)
    else entries.set(key, value)
  }
}

/** A store whose writes end as the test says; they are kept once it says nothing more. */
class FaultyStore implements KeyValueStore {
  /** The entries that a start would read. */
  readonly kept: Entries = new Map()
  /** The result of all writes that were not rejected. */
  readonly acknowledged: Entries = new Map()
  next: Array<Outcome> = []
  rejections = 0
  /** The first write that it takes after a rejection undoes what that may have kept, and adds nothing. */
  #isUndoing = false

  load(): Entries {
    return new Map(this.kept)
  }

  async write(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const outcome = this.next.shift() ?? "kept"
    if (outcome !== "rejected") apply(this.kept, changes)
    if (outcome === "kept") {
      if (!this.#isUndoing) apply(this.acknowledged, changes)
      this.#isUndoing = false
      return
    }
    this.#isUndoing = true
    this.rejections += 1
    throw new Error("the disk failed")
  }
}

const openOn = (store: KeyValueStore): ReturnType<typeof openReplica> => {
  const layer = KeyValueStorage.layer({ name: "a map", open: async () => store })
  return openReplica({ name: "a map", place: Layer.empty, client: layer }, { notifiers: ["debug"] })
}

/** The loader reads no more of a deleted registration than its key, and numbers results from 1 on. */
const rowsIn = (entries: Entries): Entries =>
  new Map(
    Array.from(entries)
      .filter(([, text]) => text !== '{"seq":0}')
      .map(([key, text]) => [key, key.startsWith("removed_registration/") ? "" : text]),
  )

const openIncidents = (replica: Replica) =>
  Effect.map(replica.queries.summary, ({ open_incidents }) => open_incidents)

type Step =
  | { readonly act: "send"; readonly check: string; readonly status: CheckStatus; readonly event: number }
  | { readonly act: "enroll" | "remove" | "removeCheck" | "expire" | "establish" }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("send" as const),
      check: fc.constantFrom("disk", "cpu"),
      status: fc.constantFrom<CheckStatus>("ok", "warning", "critical"),
      event: fc.nat({ max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom("enroll" as const, "remove", "removeCheck", "expire", "establish"),
    }),
  },
)

const outcomes = fc.array(fc.constantFrom<Outcome>("kept", "rejected", "kept and rejected"), { maxLength: 4 })

const take = (replica: Replica, taken: Step) => {
  switch (taken.act) {
    case "send": {
      const { check: check_id, status, event } = taken
      return send(replica, "a", [eventOf(event, { check_id, status, exit_code: event })])
    }
    case "enroll":
      return enroll(replica, "a")
    case "remove":
      return replica.admission.remove(AgentId.make("a"))
    case "removeCheck":
      return transact(replica.storage, removeCheck(DISK, replica.incidents, signedBy("ann")))
    case "establish":
      return replica.storage.establish("pepper_check", "a value")
    case "expire":
      return Effect.gen(function* () {
        yield* TestClock.adjust(Duration.days(1))
        const before = yield* Instant.now
        for (const rule of Object.keys(RetentionRules) as ReadonlyArray<keyof typeof RetentionRules>)
          yield* replica.storage.expire({ rule, before, after: undefined, limit: 3 })
      })
  }
}

describe("a key-value store that rejects writes", () => {
  it.effect("may have kept one: a repetition does not leave a second incident behind", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const store = new FaultyStore()
      const replica = yield* openOn(store)
      yield* enroll(replica, "a")
      store.next = ["kept and rejected", "rejected"]
      const failure = yield* Effect.flip(send(replica, "a", [eventOf(1)]))
      assert.instanceOf(failure, StorageError)
      assert.strictEqual(yield* openIncidents(replica), 0)
      yield* send(replica, "a", [eventOf(1)])
      yield* send(replica, "a", [eventOf(2, { status: "ok", exit_code: 0 })])
      assert.strictEqual(yield* openIncidents(yield* openOn(store)), 0)
    }),
  )

  it.effect("says that the rejected change may have been kept, and that the next one certainly was not", () =>
    Effect.gen(function* () {
      const store = new FaultyStore()
      const { storage } = yield* openOn(store)
      const establish = Effect.flip(storage.establish("pepper_check", "a value"))
      store.next = ["kept and rejected", "rejected"]
      assert.deepInclude(yield* establish, { reason: "unavailable", isUnknown: true })
      assert.notProperty(yield* establish, "isUnknown")
    }),
  )

  it.effect(
    "holds exactly the acknowledged changes after each write that it takes",
    () =>
      forAll(
        fc.array(fc.tuple(outcomes, step), { minLength: 2, maxLength: 30 }),
        { runs: 60 },
        Effect.fnUntraced(
          function* (steps) {
            yield* TestClock.setTime(START_MILLIS)
            const store = new FaultyStore()
            const replica = yield* openOn(store)
            yield* enroll(replica, "a")
            for (const [n, [ends, taken]] of steps.entries()) {
              store.next = [...ends]
              yield* Effect.ignore(take(replica, taken))
              store.next = []
              yield* write(replica, [], (unit) => unit.incidents.put(incidentRecord(`later-${n}`)))
              assert.deepStrictEqual(rowsIn(store.kept), rowsIn(store.acknowledged))
            }
          },
          Effect.scoped,
          Effect.provide(TestClock.layer()),
        ),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )
})
