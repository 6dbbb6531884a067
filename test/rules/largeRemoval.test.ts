import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { inconsistencies } from "@tocsin/testing/inconsistencies"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { enroll, eventOf, send } from "@tocsin/testing/samples"

const BIG = AgentId.make("big")
// The warning that joined first leaves first.
const WITHDRAWN = CheckId.make("check-1")
const CHECKS = 1_000
const BATCH = 200
const PIECE = 200

/** The changes of the transactions since it was opened, and when the storage fails. */
interface Watch {
  /** How many members each one changed. */
  readonly members: Array<number>
  /** After this many transactions the storage refuses all. */
  remaining: number
  /** The effect after the next transaction. */
  next: Effect.Effect<void>
}

const openWatched = Effect.fnUntraced(function* () {
  const watch: Watch = { members: [], remaining: Number.POSITIVE_INFINITY, next: Effect.void }
  const client = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        transact: (command) => {
          if (watch.remaining === 0)
            return Effect.fail(new StorageError({ reason: "unavailable", message: "gone" }))
          watch.remaining -= 1
          const { next } = watch
          watch.next = Effect.void
          const watched = likewise(command, function* (unit, now) {
            const reply = yield* command(unit, now)
            watch.members.push(unit.changes().incident_member.length)
            return reply
          })
          const transacted = storage.transact(watched)
          return Effect.tap(transacted, next)
        },
      }),
    ),
  ).pipe(Layer.provide(MemoryStorage.layer))
  const replica = yield* openReplica({ name: "watched memory", place: Layer.empty, client })
  return { replica, watch }
})

/**
 * One incident whose members are checks of the big agent: one critical, which joined first, and
 * many warnings.
 */
const fillIncident = Effect.fnUntraced(function* (replica: Replica) {
  yield* enroll(replica, BIG)
  for (let from = 0; from < CHECKS; from += BATCH) {
    const events = Array.from({ length: BATCH }, (_, n) => {
      const status: CheckStatus = from + n === 0 ? "critical" : "warning"
      const check_id = `check-${from + n}`
      return eventOf(from + n, { check_id, status, output: check_id, incident_key: "shared" })
    })
    yield* send(replica, BIG, events)
  }
})

const shown = (replica: Replica) =>
  Effect.map(rowsOf(replica, "incidents"), (incidents) =>
    incidents.map(({ state, severity, summary }) => [state, severity, summary].join(" ")),
  )

describe("deleting an agent with more failing checks than a transaction takes", () => {
  it.effect.each(["remove", "block"] as const)(
    "%s: in bounded pieces, and the worst speaks to the end",
    (act) =>
      Effect.gen(function* () {
        const { replica, watch } = yield* openWatched()
        yield* fillIncident(replica)
        watch.members.length = 0
        assert.deepStrictEqual(yield* replica.admission[act](BIG), { count: 1 })
        assert.isAtMost(Math.max(...watch.members), PIECE)
        assert.strictEqual(
          watch.members.reduce((sum, count) => sum + count, 0),
          CHECKS,
        )
        assert.deepStrictEqual(yield* rowsOf(replica, "agents"), [])
        assert.deepStrictEqual(yield* shown(replica), ["resolved critical check-0"])
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
      }),
  )

  it.effect.each([
    ["recovers", { incident_key: "shared", status: "ok", exit_code: 0 }],
    ["moves to another incident", { incident_key: "another" }],
  ] as const)("passes over a check that %s meanwhile", ([, event]) =>
    Effect.gen(function* () {
      const { replica, watch } = yield* openWatched()
      yield* fillIncident(replica)
      // Another status: an incident is chosen by a change of it.
      const unknown = { check_id: WITHDRAWN, status: "unknown", exit_code: 3 } as const
      watch.next = Effect.asVoid(
        Effect.orDie(send(replica, BIG, [eventOf(CHECKS, { ...unknown, ...event })])),
      )
      assert.deepStrictEqual(yield* replica.admission.remove(BIG), { count: 1 })
      assert.deepStrictEqual(yield* inconsistencies(replica), [])
    }),
  )

  it.effect("leaves consistent rows when the storage fails half-way", () =>
    Effect.gen(function* () {
      const { replica, watch } = yield* openWatched()
      yield* fillIncident(replica)
      watch.remaining = 3
      assert.strictEqual((yield* Effect.flip(replica.admission.remove(BIG)))._tag, "StorageError")
      watch.remaining = Number.POSITIVE_INFINITY
      assert.deepStrictEqual(yield* inconsistencies(replica), [])
      assert.deepStrictEqual(yield* shown(replica), ["open critical check-0"])
      assert.isUndefined(yield* replica.storage.check(BIG, WITHDRAWN))
      yield* send(replica, BIG, [eventOf(CHECKS, { check_id: WITHDRAWN, incident_key: "shared" })])
      assert.strictEqual((yield* replica.storage.check(BIG, WITHDRAWN))?.status, "critical")
      assert.deepStrictEqual(yield* inconsistencies(replica), [])
      assert.deepStrictEqual(yield* replica.admission.remove(BIG), { count: 1 })
      assert.deepStrictEqual(yield* inconsistencies(replica), [])
    }),
  )
})
