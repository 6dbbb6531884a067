import { assert, describe, it } from "@effect/vitest"
import { type AuditRecord, MAX_SUBJECTS } from "@tocsin/core/heart/model/AuditRecord"
import { recordAudit } from "@tocsin/core/heart/audit/recordAudit"
import { AuditId, AuditVia } from "@tocsin/contract/audit/Audit"
import { auditActionNames } from "@tocsin/contract/audit/AuditActions"
import * as Instant from "@tocsin/contract/formats/Instant"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import type { ListFilters, Position } from "@tocsin/core/lists/ListDefinitions"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { assertSame } from "./assertSame.ts"
import { expireAll } from "./expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { listing, walk } from "./lists/Listing.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { instant, maybe, plain, uuid } from "./rows/values.ts"
import { rowsOf } from "./rowsOf.ts"
import { agentNames, eventId, register, start } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const RUNS = 40

const auditRecord: fc.Arbitrary<AuditRecord> = fc.record({
  id: uuid.map((text) => AuditId.make(text)),
  recorded_at: instant,
  actor: plain(256),
  via: fc.constantFrom(...AuditVia.literals),
  action: fc.constantFrom(...auditActionNames),
  subjects: fc.array(fc.record({ kind: fc.constant("agent" as const), id: plain(60) }), {
    minLength: 1,
    maxLength: MAX_SUBJECTS,
  }),
  parameters: maybe(
    fc.dictionary(fc.stringMatching(/^[a-z_]{1,10}$/), fc.oneof(plain(60), fc.boolean(), fc.constant(null)), {
      minKeys: 1,
    }),
  ),
  request_id: maybe(plain(128)),
})

const put = (replica: Replica, rows: ReadonlyArray<AuditRecord>) =>
  write(replica, [], (unit) => {
    for (const row of rows) unit.recordAudit(row)
  })

const roundTrip = (replica: Replica) =>
  forAll(auditRecord, { runs: RUNS }, (row) =>
    Effect.gen(function* () {
      yield* put(replica, [row])
      const found = yield* rowsOf(replica, "audit", { subject: row.subjects[0]?.id })
      assertSame(
        found.filter(({ id }) => id === row.id),
        [row],
      )
    }),
  )

const at = (minute: number): Instant.Instant => Instant.plus(start, Duration.minutes(minute))

/** Rows of three actors and actions, several of them of one moment. */
const population: ReadonlyArray<AuditRecord> = Array.from({ length: 60 }, (_, n) => ({
  id: AuditId.make(eventId(n)),
  recorded_at: at(Math.floor(n / 4)),
  actor: ["ann", "cli:root", "library"][n % 3] ?? "ann",
  via: "api",
  action:
    (["agent.accepted", "agent.deleted", "operator.created"] as const)[(n >> 1) % 3] ?? "agent.accepted",
  subjects: [
    { kind: "agent", id: `agent-${n % 5}` },
    { kind: "agent", id: n % 2 === 0 ? "every-second" : "others" },
  ],
  parameters: undefined,
  request_id: undefined,
}))

const filters: ReadonlyArray<ListFilters["audit"]> = [undefined, "cli:root", "nobody"]
  .flatMap((actor) => [undefined, "agent.deleted" as const].map((action) => ({ actor, action })))
  .flatMap((filter) => [undefined, "agent-3", "others"].map((subject) => ({ ...filter, subject })))
  .flatMap((filter) =>
    [{}, { from: at(3) }, { to: at(9) }, { from: at(3), to: at(9) }, { from: at(9), to: at(9) }].map(
      (times) => ({ ...filter, ...times }),
    ),
  )

const matches = (row: AuditRecord, filter: ListFilters["audit"]): boolean =>
  (filter.actor ?? row.actor) === row.actor &&
  (filter.action ?? row.action) === row.action &&
  (filter.subject === undefined || row.subjects.some(({ id }) => id === filter.subject)) &&
  row.recorded_at >= (filter.from ?? row.recorded_at) &&
  (filter.to === undefined || row.recorded_at < filter.to)

const isAscending = (a: AuditRecord, b: AuditRecord): number =>
  a.recorded_at === b.recorded_at ? (a.id < b.id ? -1 : 1) : a.recorded_at < b.recorded_at ? -1 : 1

const everyFilterFinds = Effect.fnUntraced(function* (replica: Replica) {
  yield* put(replica, population)
  // Before, at and after the times of the filters, whichever of the two is nearer to the page.
  const positions: ReadonlyArray<Position | undefined> = [
    undefined,
    ...[1, 5, 12].map((minute) => ({ values: [at(minute), eventId(minute * 4)], isInclusive: true })),
  ]
  let found = 0
  for (const filter of filters) {
    for (const isBackward of [false, true]) {
      for (const from of positions) {
        const request = {
          list: "audit",
          filter,
          sort: "recorded_at",
          direction: "desc",
          from,
          isBackward,
        } as const
        const rows = yield* replica.storage.page({ ...request, limit: 7 })
        const [moment, id] = from?.values ?? []
        const isBeyond = (row: AuditRecord): boolean => {
          if (moment === undefined || id === undefined) return true
          if (row.id === id && row.recorded_at === moment) return true
          const isLater = row.recorded_at === moment ? row.id > id : row.recorded_at > BigInt(moment)
          return isLater === isBackward
        }
        const expected = population
          .filter((row) => matches(row, filter) && isBeyond(row))
          .toSorted(isAscending)
        const inOrder = isBackward ? expected : expected.toReversed()
        assertSame(rows, inOrder.slice(0, 7))
        found += rows.length
      }
    }
  }
  assert.isAbove(found, 1_000)
})

const isWalked = Effect.fnUntraced(function* (replica: Replica) {
  yield* put(replica, population)
  for (const filter of [{}, { from: at(3), to: at(9) }, { actor: "ann", subject: "others" }]) {
    const list = listing({ list: "audit", filter, sort: "recorded_at", direction: "desc" })
    const expected = yield* list.everything(replica)
    assert.isAbove(expected.length, 5)
    const { forward, back } = yield* walk(replica, list, { limits: [3, 7, 1] })
    assert.deepStrictEqual(forward, expected)
    assert.deepStrictEqual(back, expected)
  }
})

const subjectsOf = (rows: ReadonlyArray<AuditRecord>) =>
  rows.flatMap((row) => row.subjects.map(({ id }) => id))

const isSplit = Effect.fnUntraced(function* (replica: Replica) {
  const agents = agentNames(210)
  yield* register(replica, ...agents)
  assert.deepStrictEqual(yield* rowsOf(replica, "audit"), [])
  const { count } = yield* replica.admission.acceptAll({ includeRotation: false })
  assert.strictEqual(count, agents.length)
  const rows = yield* rowsOf(replica, "audit")
  assert.isTrue(rows.every(({ subjects }) => subjects.length <= MAX_SUBJECTS))
  assert.isAtMost(rows.length, 3)
  assert.deepStrictEqual(subjectsOf(rows).toSorted(), agents.toSorted())
  const [first, ...others] = rows
  assert.isTrue(
    others.every(
      ({ action, actor, via }) => `${action} ${actor} ${via}` === "agent.accepted library library",
    ),
  )
  const last = agents.at(-1) ?? assert.fail("no agents")
  assert.lengthOf(yield* rowsOf(replica, "audit", { subject: last }), 1)
  assert.isDefined(first)
})

const changesNothing = Effect.fnUntraced(function* ({ admission, operators, ...replica }: Replica) {
  const name = OperatorName.make("ann")
  yield* operators.create({ name, role: "read" })
  const before = yield* rowsOf(replica, "audit")
  assert.lengthOf(before, 1)
  yield* operators.change(name, { role: "read", expires_at: null })
  yield* operators.change(name, {})
  yield* Effect.flip(operators.create({ name, role: "admin" }))
  yield* operators.remove(OperatorName.make("bob"))
  yield* admission.unblock("0".repeat(64))
  yield* admission.acceptAll({ includeRotation: true })
  yield* admission.unblockAll
  assert.deepStrictEqual(yield* rowsOf(replica, "audit"), before)
})

const expires = Effect.fnUntraced(function* (replica: Replica) {
  yield* put(replica, population)
  const many = Array.from({ length: 250 }, (_, n) => `agent-${n}`)
  yield* TestClock.setTime(Number(at(14) / 1_000n))
  yield* transact(
    replica.storage,
    // oxlint-disable-next-line eslint/require-yield -- it only writes
    function* (unit) {
      for (const half of [many.slice(0, 100), many.slice(100, 200), many.slice(200)])
        recordAudit(unit, signedBy("ann"), "agent.deleted", half, {})
    },
  )
  yield* expireAll(replica.storage, { rule: "audit", before: at(8), limit: 3 })
  const left = yield* rowsOf(replica, "audit")
  assert.lengthOf(left, 28 + 3)
  assert.isTrue(left.every(({ recorded_at }) => recorded_at >= at(8)))
  yield* expireAll(replica.storage, { rule: "audit", before: at(15), limit: 100 })
  assert.deepStrictEqual(yield* rowsOf(replica, "audit"), [])
  // A row of the same subject finds nothing of them.
  yield* put(replica, population.slice(0, 1))
  assert.lengthOf(yield* rowsOf(replica, "audit", { subject: "agent-0" }), 1)
})

/** The audit: its rows, its filters, and the changes that it records (docs/rules.md#audit). */
export const auditSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("audit", () => {
    const check = (name: string, run: (replica: Replica) => Effect.Effect<void, unknown>) =>
      it.effect(name, () => Effect.flatMap(openReplica(subject), run), PROPERTY_TIMEOUT_MILLIS)

    check("rows are read as they were written", roundTrip)
    check("every filter finds its rows, newest first, from any place in both directions", everyFilterFinds)
    check("pages add up to the list, forward and backward", isWalked)
    check("a change of 210 agents has rows of at most 100, each agent once", isSplit)
    check("a request that changes nothing leaves no row", changesNothing)
    check("retention removes old rows with their subjects, and no other", expires)
  })
}
