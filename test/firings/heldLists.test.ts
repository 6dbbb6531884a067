import { isSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import { assert, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { type Command, lone, type LoneDecision } from "@tocsin/core/kernel/unitOfWork/Decision"
import { WITHOUT_POLICY } from "@tocsin/core/heart/firings/gatherFacts"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { heldLists } from "@tocsin/core/heart/usecases/heldLists"
import { incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { transact } from "@tocsin/testing/transact"
import { Context, Effect, Layer } from "effect"

const INCIDENTS = Array.from({ length: 30 }, (_, n) => `incident ${n}`)
const MEMBERS = 500
const MOST = 5_000

/** Passes on what a decision asks for, and notes how many members of each incident it reads. */
function* noting<A>(
  decision: LoneDecision<A>,
  note: (members: ReadonlyArray<number>) => void,
): LoneDecision<A> {
  const members: Array<number> = []
  let step = decision.next()
  while (step.done !== true) {
    if (isSearch(step.value, "loudMembers"))
      members.push(...step.value.asked.map(({ limit }) => Math.min(limit, MEMBERS)))
    step = decision.next(yield step.value)
  }
  note(members)
  return step.value
}

it.effect("a page of large incidents or their firings reads bounded members in a transaction", () =>
  Effect.gen(function* () {
    const storage = Context.get(yield* Layer.build(Layer.fresh(MemoryStorage.layer)), Storage)
    // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
    yield* transact(storage, function* (unit) {
      for (const name of INCIDENTS) {
        unit.incidents.put(incidentRecord(name, { members_critical: MEMBERS, ack_until: undefined }))
        unit.outbox.put(outboxRecord(`item of ${name}`, name, { state: "pending" }))
      }
    })
    const read: Array<ReadonlyArray<number>> = []
    const counting = <A>(command: Command<A>) =>
      transact(
        storage,
        lone((unit, now) => noting(command(unit, now), (members) => read.push(members))),
      )
    const lists = heldLists({
      storage,
      commits: { transact: counting },
      receivers: { current: () => new Map() },
      sha256: (text) => text,
      options: WITHOUT_POLICY,
    })
    const page = { limit: INCIDENTS.length, cursor: undefined, direction: "asc" } as const
    for (const list of [
      lists.incidents({ ...page, sort: "opened_at" }),
      lists.outbox({ ...page, sort: "created_at" }),
    ]) {
      read.length = 0
      assert.strictEqual((yield* list).items.length, INCIDENTS.length)
      // For what holds them, and for their titles.
      assert.lengthOf(read.flat(), 2 * INCIDENTS.length)
      for (const members of read)
        assert.isAtMost(
          members.reduce((sum, each) => sum + each, 0),
          MOST,
        )
    }
  }),
)
