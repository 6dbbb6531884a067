import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { expireAll, purge } from "../expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { range } from "../numbers.ts"
import { observe } from "../observe.ts"
import { incidentRecord, memberRecord, write } from "../records.ts"
import { rowsOf } from "../rowsOf.ts"
import { newPlace, type Replica } from "../Replica.ts"
import { enroll, eventOf, heartbeatOf, keyOf, send, START_MILLIS } from "../samples.ts"
import { skippedFor, type StorageUnderTest } from "../StorageUnderTest.ts"
import { assertAlike, outcomeOf, rules } from "./comparison.ts"
import { type Deed, commandOf, type Sent } from "./commandOf.ts"
import { type ModelAction, modelActions } from "./ModelAction.ts"
import { stateOf } from "./stateOf.ts"

const RUNS = 20
/** An ID has at most this many characters. */
const LONGEST_NAME = 128
/** Names that are one to a store that cuts keys or ignores case. */
const SIMILAR = ["a", "A", "b"].map((last) => "x".repeat(LONGEST_NAME - 1) + last)

/** The memory storage, at places that keep their rows while a test lasts. */
const kept: StorageUnderTest<Storage> = {
  name: "memory",
  place: Layer.sync(Storage, () => MemoryStorage.make(new MemoryTables())),
  client: Layer.effect(Storage, Storage),
}

/** A replica that can be closed and opened again at its place. */
const openReopened = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const open = yield* newPlace(subject, rules)
  let scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  let replica = yield* Scope.provide(open, scope)
  return {
    present: () => replica,
    reopen: Effect.gen(function* () {
      yield* Scope.close(scope, Exit.void)
      scope = yield* Scope.make()
      replica = yield* Scope.provide(open, scope)
    }),
  }
})

/**
 * Plays deeds on the storage and on the memory storage, and compares their replies, and their rows once
 * they are opened again.
 */
const openBoth = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const [storage, model] = [yield* openReopened(subject), yield* openReopened(kept)]
  const sent: Sent = { events: [], batches: [] }
  yield* TestClock.setTime(START_MILLIS)
  const compare = Effect.fnUntraced(function* (name: string) {
    const ids = sent.events.map((event) => event.event_id)
    assertAlike(yield* stateOf(storage.present(), ids), yield* stateOf(model.present(), ids), name)
  })
  return {
    sent,
    play: Effect.fnUntraced(function* (deed: Deed, name: string) {
      assertAlike(yield* outcomeOf(deed, storage.present()), yield* outcomeOf(deed, model.present()), name)
    }),
    reopen: Effect.fnUntraced(function* (name: string) {
      yield* storage.reopen
      yield* model.reopen
      yield* compare(`the state after ${name}, when the storage is opened again`)
    }),
  }
})

const reported = (first: number, status: "critical" | "ok") =>
  SIMILAR.map((check_id, n) =>
    eventOf(first + n, { check_id, status, output: `caf\u00e9 \u{1f469} ${"x".repeat(5_000)} ${n}` }),
  )

/** More rows than a store may take to be all of one write. */
const MANY = 150
/** Few of them open an incident: each is read whole, before and after every deed. */
const FAILING = 10
/** More changes than any command makes. */
const MANY_OF_ONE = 950

const expireBy = (rule: "history" | "incidents" | "outbox" | "audit"): Deed =>
  Effect.fnUntraced(function* ({ storage }: Replica) {
    const before = Instant.plus(yield* Instant.now, Duration.days(1))
    // Storages may count the subjects of audit rows.
    const removed = yield* expireAll(storage, { rule, before, limit: 100 })
    return rule === "audit" ? undefined : removed
  })

/** Writes and deletions of rows of many kinds; each is the last one before the client is closed. */
const DEEDS: ReadonlyArray<readonly [name: string, deed: Deed]> = [
  ["two agents", (replica) => enroll(replica, "a", "B")],
  ["a value that is established", ({ storage }) => storage.establish("pepper_check", "kept")],
  ["a value that was established", ({ storage }) => storage.establish("pepper_check", "new")],
  ["results", (replica) => send(replica, "a", reported(0, "critical"))],
  ["the same results", (replica) => send(replica, "a", reported(0, "critical"))],
  [
    "many results",
    (replica) =>
      send(
        replica,
        "B",
        range(MANY).map((n) =>
          eventOf(100 + n, { check_id: `check-${n}`, status: n < FAILING ? "critical" : "ok" }),
        ),
      ),
  ],
  [
    "other labels",
    ({ ingest }) => ingest.heartbeat(keyOf("a"), heartbeatOf("a", { labels: { team: "web" } })),
  ],
  ["the end of incidents", (replica) => send(replica, "a", reported(10, "ok"))],
  ["a blocked key", ({ admission }) => admission.block(AgentId.make("B"))],
  ["a deleted agent", ({ admission }) => admission.remove(AgentId.make("B"))],
  ["the rows of a deleted agent", ({ storage }) => purge(storage, 10_000)],
  ["no rows of a deleted agent", ({ storage }) => purge(storage, 10_000)],
  ["old results", expireBy("history")],
  ["old notifications", expireBy("outbox")],
  ["old incidents", expireBy("incidents")],
  ["old changes by people", expireBy("audit")],
]

const keepsEachDeed = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const both = yield* openBoth(subject)
  for (const [name, deed] of DEEDS) {
    yield* both.play(deed, name)
    yield* both.reopen(name)
  }
})

const keepsManyRows = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const { present, reopen } = yield* openReopened(subject)
  const members = range(MANY_OF_ONE).map((n) =>
    memberRecord({ incident: "i", agent: "a", check: `check-${n}` }),
  )
  const incident = incidentRecord("i")
  const loaded = { incidents: [incident.id], rows: { incident_member: members } }
  const summaries = Effect.map(
    Effect.suspend(() => rowsOf(present(), "incidents")),
    (rows) => rows.map(({ summary }) => summary),
  )
  const left = () =>
    observe(present(), [loaded], (unit) => members.filter((one) => unit.members.get(one) !== undefined))
  yield* write(present(), [], (unit) => {
    unit.incidents.put(incident)
    for (const one of members) unit.members.put(one)
  })
  yield* reopen
  assert.strictEqual((yield* left()).length, MANY_OF_ONE)
  assert.deepStrictEqual(yield* summaries, [undefined])
  yield* write(present(), [loaded], (unit) => {
    unit.incidents.put({ ...incident, summary: "changed" })
    for (const one of members.slice(2)) unit.members.delete(one)
  })
  // A list that was read before the write shows it.
  assert.deepStrictEqual(yield* summaries, ["changed"])
  yield* reopen
  assert.deepStrictEqual(yield* left(), members.slice(0, 2))
})

const goesOn = <Place>(subject: StorageUnderTest<Place>) =>
  forAll(modelActions, { runs: RUNS }, (actions: ReadonlyArray<ModelAction>) =>
    Effect.gen(function* () {
      const both = yield* openBoth(subject)
      for (const [index, action] of actions.entries()) {
        const name = `action ${index}, ${JSON.stringify(action)}`
        if (action.act === "wait") yield* TestClock.adjust(Duration.seconds(action.seconds))
        else if (action.act === "compare") yield* both.reopen(name)
        else yield* both.play(commandOf(action, both.sent, yield* Instant.now), name)
      }
      yield* both.reopen("all actions")
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  )

/** Tests that a storage fails if it loses state while it is closed. */
export const reopenTrials: Readonly<
  Record<string, <Place>(subject: StorageUnderTest<Place>) => Effect.Effect<void, unknown, Scope.Scope>>
> = {
  "has the last write and the last deletion": keepsEachDeed,
  "has more rows than a statement takes, of one transaction": keepsManyRows,
  "goes on with a random scenario like the memory storage": goesOn,
}

/** Writes, changes and deletions outlive the client that made them, each on its own. */
export const reopenSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const skipped = subject.keepsNothing ?? subject.sampled
  describe(`a storage that is closed and opened again${skippedFor(skipped)}`, () => {
    for (const [name, trial] of Object.entries(reopenTrials))
      it.effect.skipIf(skipped !== undefined)(name, () => trial(subject), PROPERTY_TIMEOUT_MILLIS)
  })
}
