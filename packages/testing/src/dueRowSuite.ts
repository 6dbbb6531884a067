import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckName } from "@tocsin/core/kernel/model/CheckRef"
import { newExpectation } from "@tocsin/core/heart/model/ExpectationRecord"
import { type EvaluatedName, evaluatedNames, type KeyedRows } from "@tocsin/core/lists/StoredTables"
import { Duration, Effect } from "effect"
import { assertSame } from "./assertSame.ts"
import { registrationIdOf, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const terms = { after_millis: 1, severity: "unknown", notifications_enabled: true } as const

/** Seconds from when a row is due to the start: some rows are due at one moment, some later. */
const SECONDS = [30, -10, 5, 30, 60, 0, 5, 45, -1, 5, 90, 20]

const refOf = (n: number) => {
  const agent_id = AgentId.make(`agent-${n % 3}`)
  return { agent_id, registration_id: registrationIdOf(agent_id), check_id: CheckId.make(`check-${n}`) }
}

/** A row of each table; some columns have a value in every other row. */
const rows: {
  readonly [N in EvaluatedName]: (n: number, next_evaluation_at: Instant.Instant) => KeyedRows[N]
} = {
  expectation: (n, next_evaluation_at) => ({
    ...newExpectation(refOf(n), { expected_from: start, origin: n % 2 === 0 ? "alert" : "run", terms }),
    next_evaluation_at,
    running_since: n % 2 === 0 ? undefined : start,
  }),
  listed_check: (n, next_evaluation_at) => ({
    ...refOf(n),
    state: n % 2 === 0 ? "leaving" : "withdrawn",
    next_evaluation_at,
    spans: n % 3 === 0 ? [] : [{ from_millis: 1, to_millis: 2 }],
  }),
  mailed_check: (n, next_evaluation_at) => ({
    ...refOf(n),
    is_by_subject: n % 2 === 0,
    sender: "root@web1",
    sent_at: n % 3 === 0 ? undefined : start,
    next_evaluation_at,
  }),
  reported_alert: (n, next_evaluation_at) => ({
    ...refOf(n),
    source: n % 3 === 0 ? "" : "http://a:9090",
    lease_millis: n % 2 === 0 ? undefined : 300_000,
    next_evaluation_at,
    address: n % 4 === 0 ? "http://a:9090/graph" : undefined,
  }),
}

/** All pages of what is due at the start. */
const pagesOf = Effect.fnUntraced(function* <N extends EvaluatedName>(
  { storage }: Replica,
  name: N,
  limit: number,
) {
  const found: Array<KeyedRows[N]> = []
  for (;;) {
    const page = yield* storage.dueRows(name, { now: start, after: found.at(-1), limit })
    found.push(...page)
    assert.isAtMost(page.length, limit)
    if (page.length < limit) return found
  }
})

const byCheck = (one: CheckName, other: CheckName): number => (one.check_id < other.check_id ? -1 : 1)

const findsDue = Effect.fnUntraced(function* <N extends EvaluatedName>(replica: Replica, name: N) {
  const written = SECONDS.map((seconds, n) => rows[name](n, Instant.minus(start, Duration.seconds(seconds))))
  yield* write(replica, [], (unit) => {
    for (const row of written) unit.of(name).put(row)
  })
  const due = written.filter((_, n) => (SECONDS[n] ?? 0) >= 0).toSorted(byCheck)
  for (const limit of [1, 2, 5, SECONDS.length]) {
    const found = yield* pagesOf(replica, name, limit)
    const moments = found.map(({ next_evaluation_at }) => next_evaluation_at ?? start)
    assert.deepStrictEqual(
      moments,
      moments.toSorted((a, b) => (a < b ? -1 : 1)),
      `pages of ${limit}`,
    )
    assertSame(found.toSorted(byCheck), due)
  }
})

/** Rows that are to be evaluated, as the port finds them (docs/rules-map.md). */
export const dueRowSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("rows that are to be evaluated are found page by page, the longest due first", () => {
    it.effect.each(evaluatedNames)("%s", (name) =>
      Effect.flatMap(openReplica(subject), (replica) => findsDue(replica, name)),
    )
  })
}
