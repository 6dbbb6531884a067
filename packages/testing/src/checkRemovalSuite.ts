import { assert, describe, it } from "@effect/vitest"
import { applyBatch } from "@tocsin/core/heart/checks/applyBatch"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { type Command, lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { removeCheck } from "@tocsin/core/heart/checks/checkActions"
import { AgentId, CheckId, type EventId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { purge } from "./expireAll.ts"
import { inconsistencies } from "./inconsistencies.ts"
import { keyHashOf } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventId, eventOf, send } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const [a, disk] = [AgentId.make("a"), CheckId.make("disk")]

const report = (replica: Replica) =>
  Effect.forEach([0, 1, 2], (n) => send(replica, "a", [eventOf(n, { exit_code: n, incident_key: "shared" })]))

/** Commands that a group decides one after the other, in one transaction. */
type Together = ReadonlyArray<"remove" | ReadonlyArray<CheckResultEvent>>

const commandFor = ({ incidents }: Replica, part: Together[number]): Command<unknown> =>
  part === "remove"
    ? removeCheck({ agent_id: a, check_id: disk }, incidents, signedBy("ann"))
    : applyBatch({
        request: { agent_id: a, events: part },
        key_hash: keyHashOf("a"),
        incidents,
      })

const decideTogether = (replica: Replica, parts: Together) =>
  transact(
    replica.storage,
    lone(function* (unit, now) {
      for (const part of parts) yield* commandFor(replica, part)(unit, now)
    }),
  )

interface Case {
  readonly name: string
  readonly before?: ReadonlyArray<CheckResultEvent>
  readonly together: Together
  /** The events in the history afterwards, newest first. */
  readonly stored: ReadonlyArray<EventId>
}

const other = eventOf(9, { check_id: "cpu" })
const ok = { status: "ok", exit_code: 0 } as const

const cases: ReadonlyArray<Case> = [
  {
    name: "rows stored before it",
    together: [[eventOf(1), other], "remove"],
    stored: [eventId(9)],
  },
  {
    name: "rows stored before it, and not those after it",
    together: [[other, eventOf(1)], "remove", [eventOf(2, ok)]],
    stored: [eventId(2), eventId(9)],
  },
  {
    name: "rows of an earlier transaction, and not those after it",
    before: [eventOf(1), other],
    together: ["remove", [eventOf(2, ok)], [eventOf(3)]],
    stored: [eventId(3), eventId(2), eventId(9)],
  },
  {
    name: "the event that is sent again after it",
    before: [other, eventOf(1)],
    together: ["remove", [eventOf(1)]],
    stored: [eventId(1), eventId(9)],
  },
  {
    name: "the event that was looked up before it and is sent again after it",
    before: [other, eventOf(1), eventOf(2, ok)],
    together: [[eventOf(1, { observed_at: eventOf(4).observed_at })], "remove", [eventOf(1)]],
    stored: [eventId(1), eventId(9)],
  },
  {
    name: "not the event of another check that is looked up after it",
    before: [other, eventOf(1)],
    together: ["remove", [{ ...eventOf(3), event_id: eventId(9) }]],
    stored: [eventId(9)],
  },
  {
    name: "all rows, however often it is removed",
    before: [eventOf(1)],
    together: ["remove", [eventOf(2)], "remove", [eventOf(1)], "remove"],
    stored: [],
  },
]

/** A removed check loses its history, beside any other decision of the same transaction. */
export const checkRemovalSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("removing a check", () => {
    it.effect("a removed check loses its history, and its events count as new", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* enroll(replica, "a")
        yield* report(replica)
        yield* send(replica, "a", [eventOf(9, { check_id: "cpu" })])
        const removed = yield* transact(
          replica.storage,
          removeCheck({ agent_id: a, check_id: disk }, replica.incidents, signedBy("ann")),
        )
        assert.strictEqual(removed, 1)
        assert.isUndefined(yield* replica.storage.check(a, disk))
        assert.deepStrictEqual<unknown>(
          (yield* rowsOf(replica, "history")).map((row) => row.check_id),
          ["cpu"],
        )
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
        assert.deepStrictEqual(yield* purge(replica.storage, 100), 0)
        const replies = yield* report(replica)
        assert.deepStrictEqual(
          replies.map((reply) => reply.accepted),
          [1, 1, 1],
        )
      }),
    )

    for (const { name, before = [], together, stored } of cases) {
      it.effect(`removes from the history, in one transaction: ${name}`, () =>
        Effect.gen(function* () {
          const replica = yield* openReplica(subject)
          yield* enroll(replica, "a")
          if (before.length > 0) yield* send(replica, "a", before)
          yield* decideTogether(replica, together)
          const history = yield* rowsOf(replica, "history")
          assert.deepStrictEqual(
            history.map((row) => row.event_id),
            stored,
          )
          assert.deepStrictEqual(yield* inconsistencies(replica), [])
        }),
      )
    }
  })
}
