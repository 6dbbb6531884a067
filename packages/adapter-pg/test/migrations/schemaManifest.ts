import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

interface Line {
  readonly line: string
}

/**
 * The schema of a database as text, one fact a line, the same on every version of PostgreSQL: columns with their types,
 * collations, defaults and generation; constraints; indexes; storage parameters; triggers with the checksums of their
 * functions.
 */
export const schemaManifest = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const columns = yield* sql<Line>`
    SELECT format('column %s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
             CASE WHEN l.collname = 'default' THEN '' ELSE coalesce(' COLLATE ' || quote_ident(l.collname), '') END,
             CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
             CASE WHEN a.attidentity <> '' THEN ' IDENTITY'
                  WHEN a.attgenerated <> '' THEN ' GENERATED ' || pg_get_expr(d.adbin, d.adrelid)
                  ELSE coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END) AS line
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    ORDER BY c.relname COLLATE "C", a.attnum
  `
  const constraints = yield* sql<Line>`
    SELECT format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    ORDER BY conrelid::regclass::text COLLATE "C", conname COLLATE "C"
  `
  const indexes = yield* sql<Line>`
    SELECT format('index %s', indexdef) AS line FROM pg_indexes WHERE schemaname = 'public'
    ORDER BY tablename COLLATE "C", indexname COLLATE "C"
  `
  const parameters = yield* sql<Line>`
    SELECT format('table %s WITH %s', relname, array_to_string(reloptions, ', ')) AS line FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL ORDER BY relname COLLATE "C"
  `
  const triggers = yield* sql<Line>`
    SELECT format('trigger %s: function %s', pg_get_triggerdef(t.oid), md5(p.prosrc)) AS line
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND p.pronamespace = 'public'::regnamespace ORDER BY t.tgname COLLATE "C"
  `
  const facts = [...columns, ...constraints, ...indexes, ...parameters, ...triggers].map(({ line }) =>
    line.replace(/\s+/g, " "),
  )
  return `${facts.join("\n")}\n`
})
