import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { LISTED_FOR, listedReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import { mayDecide, replicaState } from "@tocsin/core/heart/replicas/replicaState"
import { endReplica, reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import { signedBy } from "@tocsin/testing/signedBy"
import { type ReplicaRecord, ReplicaTransitions } from "@tocsin/core/heart/model/ReplicaRecord"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { transact } from "@tocsin/testing/transact"

const RUNS = 150

/** A step of the processes of an installation; `at` names a process. */
type Step =
  | { readonly kind: "reports" | "stops" | "restarts"; readonly at: number }
  | { readonly kind: "reloads"; readonly at: number; readonly receivers: ReadonlyArray<string> }
  | { readonly kind: "waits"; readonly minutes: number }

const at = fc.nat({ max: 2 })
const receivers = fc.subarray(["webhook", "chat", "night", "pager"])
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("reports" as const, "stops" as const, "restarts" as const), at }),
  fc.record({ kind: fc.constant("reloads" as const), at, receivers }),
  fc.record({
    kind: fc.constant("waits" as const),
    minutes: fc.constantFrom(0.5, 1, 30, 23 * 60, 24 * 60, 25 * 60),
  }),
)

interface Running {
  readonly id: string
  readonly receivers: ReadonlyArray<string>
}

/** A scenario on the memory storage, beside a plain list of who listed what, and when. */
const openScenario = () => {
  const tables = new MemoryTables()
  const storage = MemoryStorage.make(tables)
  const running = new Map<number, Running>()
  const listed = new Map<string, Instant.Instant>()
  let drawn = 0

  const report = Effect.fnUntraced(function* (process: number, receivers?: ReadonlyArray<string>) {
    const now = yield* Instant.now
    const known = running.get(process)
    const id = known?.id ?? `replica-${(drawn += 1)}`
    const given = receivers ?? known?.receivers ?? ["webhook"]
    // A reload lists the former receivers until now, unless the row was lost in a long pause.
    if (known !== undefined && tables.keyed.replica.has(id))
      for (const name of known.receivers) listed.set(name, now)
    for (const name of given) listed.set(name, now)
    running.set(process, { id, receivers: given })
    yield* transact(
      storage,
      reportReplica(
        {
          id,
          version: "1",
          policy_hash: given.join(),
          started_at: now,
          receivers: given,
          probes: false,
          isEmptyPolicy: false,
        },
        signedBy("system"),
      ),
    )
  })

  const stop = Effect.fnUntraced(function* (process: number) {
    const known = running.get(process)
    if (known === undefined) return
    const now = yield* Instant.now
    if (tables.keyed.replica.has(known.id)) for (const name of known.receivers) listed.set(name, now)
    running.delete(process)
    yield* transact(storage, endReplica(known.id))
  })

  const run = (step: Step) => {
    switch (step.kind) {
      case "reports":
        return report(step.at)
      case "reloads":
        return report(step.at, step.receivers)
      case "stops":
        return stop(step.at)
      case "restarts":
        running.delete(step.at)
        return report(step.at)
      case "waits":
        return TestClock.adjust(Duration.minutes(step.minutes))
    }
  }

  return {
    run,
    rows: () => Array.from(tables.keyed.replica.values()),
    /** The receivers that were listed within the last day, by the plain list. */
    listedBy: (now: Instant.Instant): ReadonlyArray<string> => {
      const since = Instant.minus(now, LISTED_FOR)
      return Array.from(listed).flatMap(([name, until]) => (until >= since ? [name] : []))
    },
  }
}

const statesOf = (rows: ReadonlyArray<ReplicaRecord>, now: Instant.Instant) =>
  new Map(rows.map((row) => [row.id, replicaState(row, now)]))

const MOVES = new Set<string>(ReplicaTransitions.map(({ from, to }) => `${from} ${to}`))
// A report may find a row that another one removes in the same step.
const BETWEEN = new Set(["absent absent", "silent silent", "ended ended", "absent silent"])

/** Seen, and ended, so many seconds from now: its state, and whether it may still decide. */
const MOMENTS: ReadonlyArray<
  readonly [seen: number, ended: number | undefined, is: string, decides: boolean]
> = [
  [-59, undefined, "live", true],
  [-60, undefined, "silent", false],
  [59, undefined, "live", true],
  // A clock was set back since.
  [60, undefined, "silent", false],
  [-19, -19, "ended", true],
  [-20, -20, "ended", false],
  [20, 20, "ended", false],
]

describe("a replica", () => {
  it.effect.each(MOMENTS)(
    "seen at %i s, and ended at %s s, is %s, and decides: %s",
    ([seen, ended, is, decides]) =>
      Effect.map(Instant.now, (now) => {
        const from = (seconds: number) => Instant.plus(now, Duration.seconds(seconds))
        const replica: ReplicaRecord = {
          id: "replica-1",
          version: "1",
          policy_hash: "",
          receivers: [],
          probes: false,
          agent_sha256: undefined,
          known_names: undefined,
          started_at: now,
          seen_at: from(seen),
          ended_at: ended === undefined ? undefined : from(ended),
        }
        assert.deepStrictEqual([replicaState(replica, now), mayDecide(replica, now)], [is, decides])
      }),
  )
})

describe("replicas", () => {
  it.effect(
    "keep exactly the receivers of a day listed, in few rows, and move as their table states",
    () =>
      forAll(fc.array(step, { minLength: 1, maxLength: 40 }), { runs: RUNS }, (steps) =>
        Effect.gen(function* () {
          const scenario = openScenario()
          for (const step of steps) {
            const before = statesOf(scenario.rows(), yield* Instant.now)
            yield* scenario.run(step)
            const now = yield* Instant.now
            const rows = scenario.rows()
            assert.sameMembers(Array.from(listedReceivers(rows, now)), [...scenario.listedBy(now)], step.kind)
            const states = statesOf(rows, now)
            for (const id of new Set([...before.keys(), ...states.keys()])) {
              const name = `${before.get(id) ?? "absent"} ${states.get(id) ?? "absent"}`
              if (step.kind !== "waits") assert.isTrue(MOVES.has(name) || BETWEEN.has(name), name)
            }
            if (step.kind !== "reports" && step.kind !== "reloads" && step.kind !== "restarts") continue
            const gone = rows.filter((row) => replicaState(row, now) !== "live")
            assert.isAtMost(gone.length, 4, "one for each receiver")
          }
        }),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )
})
