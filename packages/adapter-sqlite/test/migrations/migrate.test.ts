import { join } from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { checksumOf, migrate, migrations, verifySchema } from "../../src/migrations/migrate.ts"

const MANIFEST = join(import.meta.dirname, "schema.sql")

const database = (): SqliteConnection => SqliteConnection.open(IN_MEMORY)

const step = (id: number, sql: string): Migration => ({
  id,
  name: `step_${id}`,
  compatibility: "compatible",
  sql,
})

const tables = (connection: SqliteConnection) =>
  connection
    .query<[name: string]>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .flat()

/** The schema that all migrations make together, and the text of each one. */
const manifest = (): string => {
  const connection = database()
  migrate(connection, start)
  const objects = connection.query<[sql: string]>(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
  )
  return [
    "-- The schema that the migrations result in. Compared by a test: a released migration is never changed, a new",
    "-- one adds its line and its objects here.",
    ...migrations.map((one) => `-- ${one.id} ${one.name} ${one.compatibility} sha256:${checksumOf(one)}`),
    ...objects.all().map(([sql]) => `\n${sql};`),
    "",
  ].join("\n")
}

const reasonOf = (use: () => unknown): string => {
  try {
    use()
  } catch (error) {
    return error instanceof StorageError ? error.reason : String(error)
  }
  return "accepted"
}

describe("migrations", () => {
  it("are numbered in their order", () => {
    assert.deepStrictEqual(
      migrations.map(({ id }) => id),
      migrations.map((_, index) => index + 1),
    )
  })

  // `vitest -u` writes the file, whose difference is then to be reviewed.
  it("result in the schema that schema.sql shows", () => expect(manifest()).toMatchFileSnapshot(MANIFEST))

  it("run once each, in their order; later ones when the code knows them", () => {
    const connection = database()
    const [one, two, three] = [
      step(1, "CREATE TABLE one (a) STRICT".replace("(a)", "(a INTEGER)")),
      step(2, "ALTER TABLE one ADD COLUMN b INTEGER"),
      step(3, "CREATE TABLE three (c INTEGER)"),
    ]
    assert.isUndefined(verifySchema(connection, [one]))
    migrate(connection, start, [one])
    assert.deepStrictEqual(tables(connection), ["one", "schema_migration"])
    migrate(connection, start, [one, two, three])
    migrate(connection, start, [one, two, three])
    assert.deepStrictEqual(tables(connection), ["one", "schema_migration", "three"])
    assert.strictEqual(verifySchema(connection, [one, two, three]), 3)
    const applied = connection.query<[bigint, string, bigint]>(
      "SELECT id, name, applied_at FROM schema_migration",
    )
    assert.deepStrictEqual(applied.all(), [
      [1n, "step_1", start],
      [2n, "step_2", start],
      [3n, "step_3", start],
    ])
  })

  it("leave nothing behind when one of them fails", () => {
    const connection = database()
    const failing = [step(1, "CREATE TABLE one (a INTEGER)"), step(2, "CREATE TABLE one (a INTEGER)")]
    assert.throws(() => migrate(connection, start, failing))
    assert.deepStrictEqual(tables(connection), [])
  })

  it("are refused where a database knows more of them, others, or is of another program", () => {
    const [one, two] = [step(1, "CREATE TABLE one (a INTEGER)"), step(2, "CREATE TABLE two (a INTEGER)")]
    const connection = database()
    migrate(connection, start, [one, two])
    assert.strictEqual(
      reasonOf(() => migrate(connection, start, [one])),
      "newer",
    )
    const edited = { ...one, sql: "CREATE TABLE one (b INTEGER)" }
    assert.strictEqual(
      reasonOf(() => migrate(connection, start, [edited, two])),
      "other",
    )
    const other = database()
    other.execute("CREATE TABLE moz_places (id INTEGER)")
    assert.strictEqual(
      reasonOf(() => migrate(other, start)),
      "other",
    )
    assert.deepStrictEqual(tables(other), ["moz_places"])
  })
})
