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

/** Passes on what a decision asks for, and notes the incidents whose members it reads. */
function* noting<A>(decision: LoneDecision<A>, note: (incidents: number) => void): LoneDecision<A> {
  let incidents = 0
  let step = decision.next()
  while (step.done !== true) {
    if (isSearch(step.value, "loudMembers")) incidents += step.value.asked.length
    step = decision.next(yield step.value)
  }
  note(incidents)
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
    const read: Array<number> = []
    const counting = <A>(command: Command<A>) =>
      transact(
        storage,
        lone((unit, now) => noting(command(unit, now), (incidents) => read.push(incidents))),
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
      assert.strictEqual(
        read.reduce((sum, incidents) => sum + incidents, 0),
        INCIDENTS.length,
      )
      assert.isAtMost(Math.max(...read) * MEMBERS, MOST)
    }
  }),
)
