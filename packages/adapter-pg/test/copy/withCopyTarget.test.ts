import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect, Layer, Logger } from "effect"
import { withCopyTarget } from "../../src/copy/copyConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

/** A database at the schema of an older version. */
const olderDatabase = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const { sql } = yield* scratch.replica({ maxConnections: 1, applicationName: "other" })
  yield* migrate(sql, { known: migrations.slice(0, 2) })
  return { ...scratch, sql }
})

const noted = () => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
  return { lines, logging: Logger.layer([logger]) }
}

layer(Layer.empty)("the target of a copy", (it) => {
  it.effect("is refused before a migration that would hold up its server", () =>
    Effect.gen(function* () {
      const { sql, replica, url } = yield* olderDatabase
      const { lines, logging } = noted()
      const refused = Effect.flip(withCopyTarget(url, () => Effect.die("the copy began")))
      const copied = sql.withTransaction(Effect.andThen(sql`SELECT 1 FROM outbox`, refused))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* replica({ maxConnections: 1 })
          yield* server.sql`SELECT 1`
          assert.include((yield* copied).message, "a server is using the database")
        }),
      ).pipe(Effect.provide(logging))
      yield* sql`INSERT INTO service_heartbeat (name, beat_at) VALUES ('service', (extract(epoch FROM now()) * 1000000)::int8)`
      assert.include((yield* Effect.provide(copied, logging)).message, "a server is using the database")
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  it.effect("is brought to the present schema, without a word about servers that may keep running", () =>
    Effect.gen(function* () {
      const { sql, url } = yield* olderDatabase
      const { lines, logging } = noted()
      yield* Effect.provide(
        withCopyTarget(url, () => Effect.void),
        logging,
      )
      assert.lengthOf(yield* sql`SELECT 1 FROM schema_migration`, migrations.length)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )
})
