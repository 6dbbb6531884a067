import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { type Listing, walk } from "./Listing.ts"
import { AGENTS, BLACKLIST, LISTINGS } from "./everyListing.ts"
import { populate, population } from "./population.ts"
import { newPlace, openReplica, type Replica } from "../Replica.ts"
import { enroll, eventOf, send } from "../samples.ts"
import { RUNS_FACTOR } from "../propertyRuns.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"

/** One of so many listings is read a row at a time. */
const SINGLY = RUNS_FACTOR < 1 ? 17 : 5
/** One of so many is read while rows come, move and go: between its pages, and by another client. */
const DISTURBED = RUNS_FACTOR < 1 ? { between: 31, beside: 53 } : { between: 11, beside: 19 }

const describeWalks = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("pages of any size add up to the list, forward and backward", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* populate(replica)
      for (const [index, listing] of LISTINGS.entries()) {
        const expected = yield* listing.everything(replica)
        assert.isAbove(expected.length, 2, listing.text)
        // In turn: strides without a factor in common with filters, sorts and directions meet all of them.
        const small = index % SINGLY === 0 ? [1] : [7, 2, 4]
        const large = index % 7 < 4 ? [expected.length] : [expected.length - 1]
        for (const limits of [small, large]) {
          const { forward, back } = yield* walk(replica, listing, { limits })
          assert.deepStrictEqual(forward, expected, `${listing.text} by ${limits.join()}`)
          assert.deepStrictEqual(back, expected, `${listing.text} by ${limits.join()}`)
        }
      }
    }),
  )

  it.effect("an empty list has one page", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      for (const listing of LISTINGS) {
        const page = yield* listing.page(replica, { limit: 10 })
        assert.deepStrictEqual(page, { items: [], next_cursor: null, prev_cursor: null })
      }
    }),
  )
}

const describePositions = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect(
    "a position includes or excludes its row, forward and backward, whether or not the row exists",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* populate(replica)
        const ids = population.agents.map((agent): string => agent.agent_id).toSorted()
        const requests = ["", "A", "M", "a-1", "b", "zzz"]
          .flatMap((at) => [true, false].map((isInclusive) => ({ values: [at], isInclusive })))
          .flatMap((from) => [true, false].map((isBackward) => ({ from, isBackward })))
          .flatMap((request) => [1, 4, 100].map((limit) => ({ ...request, limit })))
        for (const request of requests) {
          const { from, isBackward, limit } = request
          const [at = ""] = from.values
          const rows = yield* replica.storage.page({
            ...request,
            list: "agents",
            filter: {},
            sort: "agent_id",
            direction: "asc",
          })
          const beyond = ids.filter(
            (id) => (isBackward ? id < at : id > at) || (from.isInclusive && id === at),
          )
          assert.deepStrictEqual(
            rows.map((row): string => row.agent_id),
            (isBackward ? beyond.toReversed() : beyond).slice(0, limit),
            JSON.stringify(request),
          )
        }
      }),
  )

  it.effect("a cursor outlives its row", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const remove = (name: string) => replica.admission.remove(AgentId.make(name))
      yield* enroll(replica, "a", "b", "c", "d", "e", "f")
      const first = yield* AGENTS.page(replica, { limit: 3 })
      assert.deepStrictEqual(first.items, ["a", "b", "c"])
      yield* Effect.forEach(["c", "d"], remove)
      const second = yield* AGENTS.page(replica, { cursor: first.next_cursor ?? "", limit: 1 })
      assert.deepStrictEqual(second.items, ["e"])
      yield* remove("e")
      const back = yield* AGENTS.page(replica, { cursor: second.prev_cursor ?? "", back: true, limit: 5 })
      assert.deepStrictEqual(back.items, ["a", "b"])
      assert.isNull(back.prev_cursor)
      const forth = yield* AGENTS.page(replica, { cursor: back.next_cursor ?? "", limit: 5 })
      assert.deepStrictEqual(forth.items, ["f"])
    }),
  )

  it.effect("a page that became empty leads back to all rows before it", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* populate(replica)
      const all = yield* BLACKLIST.everything(replica)
      const first = yield* BLACKLIST.page(replica, { limit: 20 })
      yield* Effect.forEach(all.slice(20), (id) => replica.admission.unblock(id))
      const empty = yield* BLACKLIST.page(replica, { cursor: first.next_cursor ?? "", limit: 20 })
      assert.deepStrictEqual([empty.items, empty.next_cursor], [[], null])
      const back = { cursor: empty.prev_cursor ?? "", back: true, limit: 20 }
      assert.deepStrictEqual((yield* BLACKLIST.page(replica, back)).items, all.slice(0, 20))
      yield* replica.admission.unblockAll
      const nothing = yield* BLACKLIST.page(replica, back)
      assert.deepStrictEqual([nothing.items, nothing.prev_cursor], [[], null])
    }),
  )
}

/** New rows in every list, before, among and after the existing ones; also rows that move or are removed. */
const disturb = Effect.fnUntraced(function* (replica: Replica, n: number) {
  const agent = `${"0AMZamz"[n % 7] ?? ""}-${n}`
  yield* enroll(replica, agent, `bad-${n}`)
  yield* replica.admission.block(AgentId.make(`bad-${n}`))
  const incident_key = `new ${n % 3}`
  yield* send(replica, agent, [
    eventOf(1, { incident_key }),
    eventOf(2, { check_id: "cpu", status: "warning" }),
  ])
  if (n % 2 === 0) yield* send(replica, agent, [eventOf(3, { status: "ok", exit_code: 0 })])
  if (n % 3 === 0) yield* replica.admission.remove(AgentId.make(agent))
})

const assertEachMetOnce = (
  staying: ReadonlyArray<string>,
  met: { readonly forward: ReadonlyArray<string>; readonly back: ReadonlyArray<string> },
  { text }: Listing,
) => {
  const times = (names: ReadonlyArray<string>, name: string) => names.filter((other) => other === name).length
  const wrong = staying.filter((name) => times(met.forward, name) !== 1 || times(met.back, name) !== 1)
  assert.deepStrictEqual(wrong, [], text)
}

const describeDisturbedWalks = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("unchanged rows appear once in each direction while others are added, moved and removed", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* populate(replica)
      let disturbed = 0
      // After ever fewer pages, or a walk would not end where rows are added ahead of it.
      const after = (n: number) =>
        Number.isInteger(Math.sqrt(n)) ? disturb(replica, ++disturbed) : Effect.void
      for (const listing of LISTINGS.filter((_, index) => index % DISTURBED.between === 0)) {
        const staying = yield* listing.everything(replica)
        const met = yield* walk(replica, listing, { limits: [1, 3, 2], after })
        assertEachMetOnce(staying, met, listing)
      }
    }),
  )

  it.live("unchanged rows appear once in each direction during concurrent writes", () =>
    Effect.gen(function* () {
      const open = yield* newPlace(subject)
      const reader = yield* open
      const writer = subject.onlyOneClient === undefined ? yield* open : reader
      yield* populate(reader)
      for (const [index, listing] of LISTINGS.filter(
        (_, index) => index % DISTURBED.beside === 1,
      ).entries()) {
        const staying = yield* listing.everything(reader)
        const disturbing = Effect.forEach([1, 2, 3, 4, 5, 6], (n) => disturb(writer, 10 * index + n))
        const [met] = yield* Effect.all([walk(reader, listing, { limits: [2, 1] }), disturbing], {
          concurrency: "unbounded",
        })
        assertEachMetOnce(staying, met, listing)
      }
    }),
  )
}

/** Keyset paging with any changes between two pages (docs/rules.md#lists). */
export const pagingSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("paging", () => {
    describeWalks(subject)
    describePositions(subject)
    describeDisturbedWalks(subject)
  })
}
