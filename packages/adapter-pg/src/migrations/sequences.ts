import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The columns whose values come from a sequence. A replication by publications copies rows and no sequences. */
const COUNTED = [
  ["check_event", "seq"],
  ["number_series", "id"],
] as const

/** The sequence of a column: its identity, or that of its default, where the table was partitioned (docs/scaling.md). */
const sequenceOf = (table: string, column: string): string => `coalesce(
  pg_get_serial_sequence('${table}', '${column}')::regclass,
  (SELECT s.oid::regclass FROM pg_attrdef AS a
     JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid AND d.refclassid = 'pg_class'::regclass
     JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S'
   WHERE a.adrelid = '${table}'::regclass LIMIT 1))`

const ASK = COUNTED.map(
  ([table, column]) => `SELECT '${table}' AS name, sequence::text, used FROM (
    SELECT ${sequenceOf(table, column)} AS sequence, (SELECT max(${column}) FROM ${table}) AS used
  ) AS ${table} WHERE coalesce(pg_sequence_last_value(sequence), 0) < used`,
).join(" UNION ALL ")

/** The tables whose sequence is behind their rows: what it gives next is taken, or sorts below what is older. */
export const findBehind = (sql: SqlClient.SqlClient) =>
  sql.unsafe<{ readonly name: string; readonly sequence: string; readonly used: bigint }>(ASK).unprepared

/** Sets right what {@link findBehind} finds. Writers of the table wait meanwhile, so that none takes a value below. */
export const advanceSequences = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const behind = yield* findBehind(sql)
  if (behind.length === 0) return
  const names = behind.map(({ name }) => name).join(", ")
  yield* sql.withTransaction(
    Effect.andThen(
      sql.unsafe(`LOCK TABLE ${names} IN SHARE ROW EXCLUSIVE MODE`),
      Effect.flatMap(findBehind(sql), (found) =>
        Effect.forEach(found, ({ sequence, used }) => sql`SELECT setval(${sequence}::regclass, ${used})`),
      ),
    ),
  )
  yield* Effect.logWarning(
    `the sequences of ${names} were behind their rows, as after an upgrade by logical replication: they are set right`,
  )
})
