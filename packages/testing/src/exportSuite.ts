import { assert, describe, it } from "@effect/vitest"
import type { ExportKind } from "@tocsin/contract/export/Export"
import * as Instant from "@tocsin/contract/formats/Instant"
import { toIncident } from "@tocsin/core/heart/usecases/shownIncidents"
import { PART_KINDS } from "@tocsin/core/features/numbers/NumberPart"
import { spanOf } from "@tocsin/core/features/numbers/Span"
import { Effect, Exit, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { range } from "./numbers.ts"
import { checks, DAY, FIRST_DAY, fill, SERVERS } from "./numbersSuite.ts"
import { race } from "./race.ts"
import { agentRecord, incidentIdOf, incidentRecord, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { eventId, eventOf, start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const MINUTE = 60_000_000n
const minute = (n: number): Instant.Instant => Instant.fromMicros(start + BigInt(n) * MINUTE)
const EVER = [minute(-100_000), minute(100_000)] as const

interface Line {
  readonly [field: string]: unknown
  readonly cursor?: string
  readonly end?: true
  readonly event_id?: string
  readonly id?: string
  readonly at?: string
  readonly name?: string
}

type Span = readonly [from: Instant.Instant, to: Instant.Instant]

const linesOf = (replica: Replica, kind: ExportKind, [from, to]: Span, cursor?: string) =>
  replica.exports
    .exportRows({ kind, from, to, ...(cursor !== undefined && { cursor }) }, (rows) =>
      Effect.succeed(rows.map(toIncident)),
    )
    .pipe(
      Effect.flatMap(Stream.runCollect),
      Effect.scoped,
      Effect.map((pieces) => pieces.flat() as ReadonlyArray<Line>),
    )

/** The rows of an export, and its last cursor. */
const exportOf = Effect.fnUntraced(function* (...asked: Parameters<typeof linesOf>) {
  const lines = yield* linesOf(...asked)
  const last = lines.at(-1)
  assert.strictEqual(last?.end, true)
  return { rows: lines.filter(({ cursor }) => cursor === undefined), cursor: last?.cursor ?? "" }
})

const eventsOf = (rows: ReadonlyArray<Line>) => rows.map(({ event_id }) => event_id)

/** Stores changes of an agent in one transaction, each received at a minute. */
const store = (
  replica: Replica,
  name: string,
  changes: ReadonlyArray<readonly [event: number, at: number]>,
) => {
  const agent = agentRecord(name)
  const { agent_id, registration_id } = agent
  return transact(replica.storage, function* (unit) {
    yield { agents: [agent_id] }
    unit.putAgent(agent)
    for (const [event, at] of changes)
      unit.store({ ...eventOf(event), agent_id, registration_id, received_at: minute(at) })
  })
}

const MOMENT = fc.integer({ min: 0, max: 40 })
const BATCH = fc.record({
  agent: fc.constantFrom("a", "b", "c"),
  minutes: fc.array(MOMENT, { minLength: 1, maxLength: 6 }),
})
const STORY = fc.record({
  batches: fc.array(BATCH, { maxLength: 8 }),
  bounds: fc.array(MOMENT, { minLength: 1, maxLength: 4 }),
})

/** The clock may have been set back between two rows, or be ahead. */
const spansMeet = <Place>(subject: StorageUnderTest<Place>) =>
  forAll(STORY, { runs: 20 }, ({ batches, bounds }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const expected: Array<readonly [string, number]> = []
        const behind: Array<Line> = []
        let cursor: string | undefined
        for (const { agent, minutes } of batches) {
          const numbered = minutes.map((at, n) => [expected.length + n, at] as const)
          yield* store(replica, agent, numbered)
          for (const [event, at] of numbered) expected.push([eventId(event), at])
          const more = yield* exportOf(replica, "history", EVER, cursor)
          behind.push(...more.rows)
          cursor = more.cursor
        }
        assert.deepStrictEqual(
          eventsOf(behind),
          expected.map(([id]) => id),
        )
        const ends = [-1, ...bounds.toSorted((a, b) => a - b), 41]
        for (const [n, end] of ends.slice(1).entries()) {
          const first = ends[n] ?? 0
          const { rows } = yield* exportOf(replica, "history", [minute(first), minute(end)])
          assert.deepStrictEqual(
            eventsOf(rows),
            expected.filter(([, at]) => at >= first && at < end).map(([id]) => id),
          )
        }
      }),
    ),
  )

const incidentsOf = (rows: ReadonlyArray<Line>) => rows.map(({ id }) => id)

const describeIncidents = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect(
    "incidents come by when they opened, then by when they resolved, and new ones behind a cursor",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const put = (name: string, opened: number, resolved?: number) =>
          write(replica, [], (unit) =>
            unit.incidents.put(
              incidentRecord(name, {
                opened_at: minute(opened),
                ...(resolved !== undefined && { state: "resolved" as const, resolved_at: minute(resolved) }),
              }),
            ),
          )
        yield* put("early", 0, 5)
        yield* put("before", 1, 12)
        yield* put("long", 2)
        yield* put("within", 11, 13)
        yield* put("open", 10)
        yield* put("later", 20, 30)
        const span = [minute(10), minute(20)] as const
        const { cursor, rows } = yield* exportOf(replica, "incidents", span)
        assert.deepStrictEqual(incidentsOf(rows), ["open", "within", "before"].map(incidentIdOf))
        const again = yield* exportOf(replica, "incidents", span, cursor)
        assert.deepStrictEqual([again.rows, again.cursor], [[], cursor])
        yield* put("newer", 15)
        yield* put("former", 3, 16)
        const more = yield* exportOf(replica, "incidents", span, cursor)
        assert.deepStrictEqual(incidentsOf(more.rows), ["newer", "former"].map(incidentIdOf))
        const later = yield* exportOf(replica, "incidents", [minute(20), minute(40)])
        assert.deepStrictEqual(incidentsOf(later.rows), [incidentIdOf("later")])
      }),
  )
}

const describeNumbers = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect.skipIf(subject.noNumbers !== undefined)(
    "hours of numbers come once, and those of later hours behind the last cursor",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* fill(replica)
        const { numbers } = replica.storage
        const part = (check: (typeof checks)[number], hour: number, value: number) => ({
          agent_id: check.agent_id,
          registration_id: check.registration_id,
          check_id: check.check_id,
          name: "load",
          unit: "s",
          kind: "hour" as const,
          start: FIRST_DAY + hour * PART_KINDS.hour.length,
          since: FIRST_DAY,
          spans: [spanOf(value, 0)],
        })
        const put = (hour: number) =>
          Effect.forEach(SERVERS, (server, n) =>
            numbers === undefined
              ? Effect.void
              : numbers.write(
                  server,
                  checks.map((check) => part(check, hour, hour + n)),
                ),
          )
        yield* TestClock.setTime(FIRST_DAY + 25.5 * PART_KINDS.hour.length)
        for (const hour of [0, 3, 23, 24, 25]) yield* put(hour)
        const from = Instant.fromMillis(FIRST_DAY + PART_KINDS.hour.length)
        const span = [from, Instant.fromMillis(FIRST_DAY + 9 * DAY)] as const
        const first = yield* exportOf(replica, "numbers", span)
        assert.strictEqual(first.rows.length, 8)
        assert.deepInclude(first.rows[0], {
          agent_id: "a",
          check_id: "cpu",
          name: "load",
          unit: "s",
          count: 2,
          min: 3,
          max: 4,
          mean: 3.5,
          at: Instant.format(Instant.fromMillis(FIRST_DAY + 3 * PART_KINDS.hour.length)),
        })
        assert.strictEqual(new Set(first.rows.map((row) => JSON.stringify(row))).size, 8)
        assert.deepStrictEqual((yield* exportOf(replica, "numbers", span, first.cursor)).rows, [])
        yield* TestClock.adjust("1 hour")
        yield* put(26)
        const next = yield* exportOf(replica, "numbers", span, first.cursor)
        const hour = Instant.format(Instant.fromMillis(FIRST_DAY + 26 * PART_KINDS.hour.length))
        assert.deepStrictEqual(
          next.rows.map(({ at }) => at),
          [hour, hour],
        )
      }),
  )
}

const describeBounds = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("a cursor comes after each 1,000 rows, and goes on behind them", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const all = range(2_100)
      for (const first of [0, 700, 1_400])
        yield* store(
          replica,
          "a",
          all.slice(first, first + 700).map((n) => [n, n] as const),
        )
      const lines = yield* linesOf(replica, "history", EVER)
      const places = lines.flatMap(({ cursor }, n) => (cursor === undefined ? [] : [n]))
      assert.deepStrictEqual(places, [1_000, 2_001, 2_102])
      assert.deepStrictEqual(eventsOf(lines.filter(({ cursor }) => cursor === undefined)), all.map(eventId))
      const rest = yield* exportOf(replica, "history", EVER, lines[1_000]?.cursor)
      assert.deepStrictEqual(eventsOf(rest.rows), all.slice(1_000).map(eventId))
    }),
  )

  it.effect(
    "a cursor of another kind, a span that ends before it begins and a third export are refused",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { cursor } = yield* exportOf(replica, "history", EVER)
        for (const wrong of ["x", `${cursor}A`]) {
          const refused = yield* Effect.flip(linesOf(replica, "history", EVER, wrong))
          assert.strictEqual(refused._tag, "ValidationError")
        }
        const ofAnother = yield* Effect.flip(linesOf(replica, "incidents", EVER, cursor))
        assert.strictEqual(ofAnother.message, "cursor must be of an export of incidents")
        const backwards = yield* Effect.flip(linesOf(replica, "history", [minute(1), minute(0)]))
        assert.strictEqual(backwards.message, "from must not be after to")
        const scope = yield* Scope.make()
        const [from, to] = EVER
        const begin = replica.exports.exportRows({ kind: "history", from, to }, () => Effect.succeed([]))
        yield* Scope.provide(Effect.andThen(begin, begin), scope)
        assert.strictEqual((yield* Effect.flip(linesOf(replica, "history", EVER)))._tag, "RateLimited")
        yield* Scope.close(scope, Exit.void)
        yield* linesOf(replica, "history", EVER)
      }),
  )
}

/** Exports: each row once, behind each cursor, also while others write. */
export const exportSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("exports", () => {
    it.effect(
      "spans that meet have each change once, and so have exports that go on behind the last cursor",
      () => spansMeet(subject),
      PROPERTY_TIMEOUT_MILLIS,
    )
    describeBounds(subject)
    describeIncidents(subject)
    describeNumbers(subject)
    race(subject, { name: "each change is exported once while several write", alsoAlone: true }, (replica) =>
      Effect.gen(function* () {
        const exported: Array<Line> = []
        let cursor: string | undefined
        const look = Effect.gen(function* () {
          const more = yield* exportOf(replica(0), "history", EVER, cursor)
          exported.push(...more.rows)
          cursor = more.cursor
        })
        const writers = range(4).map((n) =>
          Effect.forEach(range(12), (batch) => {
            const changes = range(5).map((m) => [n * 100 + batch * 5 + m, n] as const)
            return store(replica(n), `agent-${n}`, changes)
          }),
        )
        yield* Effect.raceFirst(Effect.all(writers, { concurrency: "unbounded" }), Effect.forever(look))
        yield* look
        assert.deepStrictEqual(
          eventsOf(exported).toSorted(),
          range(4)
            .flatMap((n) => range(60).map((m) => eventId(n * 100 + m)))
            .toSorted(),
        )
      }),
    )
  })
}
