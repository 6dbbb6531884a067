import { assert } from "@effect/vitest"
import { scriptOf } from "@tocsin/adapter-pg/client/PgPoolOptions"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const MICROS_PER_MILLI = 1_000n

/** The first UUID of version 7 of a moment, as PostgreSQL orders them. */
const firstIdOf = (moment: string): string => {
  const digits = Date.parse(moment).toString(16).padStart(12, "0") + "0".repeat(20)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** Where an event of this moment is kept. */
const partitionOf = Effect.fnUntraced(function* (moment: string) {
  const sql = yield* SqlClient.SqlClient
  const event_id = firstIdOf(moment).replace(/0{12}$/, "000000000001")
  const received = BigInt(Date.parse(moment)) * MICROS_PER_MILLI
  const [row] = yield* sql<{ readonly partition: string }>`
    INSERT INTO check_event (event_id, agent_id, registration_id, check_id, observed_at, received_at, status, exit_code,
      duration_ms, output_truncated, notifications_enabled)
    VALUES (${event_id}, 'web-1', ${event_id}, 'disk', ${received}, ${received}, 'ok', 0, 1, false, true)
    RETURNING tableoid::regclass::text AS partition`
  return row?.partition
})

/**
 * Carries out how history is parted by time, with the bounds of the block's own SELECT in the
 * places where it has `…`; then sees that events go where their times say.
 */
export const carryOutQuarters = Effect.fnUntraced(function* (text: string) {
  const sql = yield* SqlClient.SqlClient
  const moments = Array.from(text.matchAll(/first_event_id\('([^']+)'\)/g), ([, moment = ""]) => moment)
  const [first = "", second = ""] = moments.map(firstIdOf)
  const shown = Array.from(text.matchAll(/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4})-…/g), ([, start]) => start)
  assert.deepStrictEqual(
    shown,
    [first, second].map((id) => id.slice(0, 18)),
    "the comment shows other bounds",
  )
  const bounds = [first, first, second]
  yield* sql.unsafe(
    // A script is one transaction anyway.
    scriptOf(
      text
        .replaceAll("'…'", () => `'${bounds.shift() ?? assert.fail("more bounds than three")}'`)
        .replaceAll(/^(BEGIN|COMMIT);$/gm, ""),
    ),
  )
  const [start = "", end = ""] = moments
  const justBefore = (moment: string) => new Date(Date.parse(moment) - 1).toISOString()
  const partitions = yield* Effect.forEach([justBefore(start), start, justBefore(end), end], partitionOf)
  assert.deepStrictEqual(partitions, [
    "check_event_before",
    "check_event_2027_1",
    "check_event_2027_1",
    "check_event_other",
  ])
})
