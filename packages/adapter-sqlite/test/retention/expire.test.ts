import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { RetentionName } from "@tocsin/core/lists/retention/RetentionRules"
import { agentRecord, incidentRecord } from "@tocsin/testing/records"
import { eventOf, start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { hasUnfinishedNotification, makeExpiry } from "../../src/retention/expire.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

const ROWS = 200
const LATER = Instant.fromMicros(start + 1_000n)

/** 200 results of one check of a deleted agent, and 200 incidents that were resolved long ago. */
const openWithPast = (): SqliteConnection => {
  const connection = SqliteConnection.open(IN_MEMORY)
  migrate(connection, start)
  const tables = makeTables(connection)
  const { agent_id, registration_id } = agentRecord("a")
  const numbers = Array.from({ length: ROWS }, (_, n) => n)
  tables.history.add(numbers.map((n) => ({ ...eventOf(n), agent_id, registration_id, received_at: start })))
  const incidents = numbers.map((n) =>
    incidentRecord(`${n}`, { state: "resolved", opened_at: start, resolved_at: start }),
  )
  tables.incidents.write(incidents.map((after) => ({ before: undefined, after })))
  tables.removedRegistrations.insert([agentRecord("a")])
  return connection
}

/** A clock that moves on by some milliseconds each time it is read. */
const clockOf = (step: number) => {
  let now = 0
  return (): number => (now += step)
}

/** The sizes of the pieces in which a rule removes all rows. */
const piecesOf = (rule: RetentionName, step: number): ReadonlyArray<number> => {
  const connection = openWithPast()
  const expire = makeExpiry(connection, clockOf(step))
  const pieces: Array<number> = []
  let after: string | undefined
  for (let isMore = true; isMore;) {
    const result = expire({ rule, before: LATER, after, limit: 500 })
    pieces.push(result.removed)
    ;({ after, isMore } = result)
  }
  connection.close()
  return pieces
}

const sumOf = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, number) => sum + number, 0)

const removals = { deleted_agents: ROWS + 1, history: ROWS - 1, incidents: ROWS } as const

describe("a piece of retention on SQLite", () => {
  const cases = Object.entries(removals) as ReadonlyArray<[keyof typeof removals, number]>

  it.each(cases)("of %s ends when its time is used, and the next piece removes the rest", (rule, rows) => {
    const [whole, slow, slower] = [0, 4, 11].map((step) => piecesOf(rule, step))
    assert.deepStrictEqual(whole, [rows])
    // Batches of 16 rows: three in ten milliseconds when each takes four.
    assert.isAtMost(Math.max(...(slow ?? [])), 48)
    assert.isAtMost(Math.max(...(slower ?? [])), 16)
    assert.deepStrictEqual([sumOf(slow ?? []), sumOf(slower ?? [])], [rows, rows])
  })

  it("is never larger than its limit", () => {
    const connection = openWithPast()
    const expire = makeExpiry(connection, clockOf(0))
    for (const limit of [1, 16, 17, 100]) {
      const piece = { rule: "history", before: LATER, after: undefined, limit } as const
      const { removed } = expire(piece)
      assert.isAtMost(removed, limit)
      assert.isAtLeast(removed, limit - 1)
    }
    connection.close()
  })

  it("reads no notification of an incident that has ended to know whether one has not", () => {
    const connection = openWithPast()
    const plan = connection
      .query<[bigint, bigint, bigint, string]>(
        `EXPLAIN QUERY PLAN SELECT ${hasUnfinishedNotification("'i'")}`,
      )
      .all()
      .map(([, , , detail]) => detail)
    assert.isTrue(
      plan.some((line) =>
        /^SEARCH other USING (?:COVERING )?INDEX outbox_unfinished \(incident_id=\?\)$/.test(line),
      ),
      plan.join(),
    )
    connection.close()
  })
})
