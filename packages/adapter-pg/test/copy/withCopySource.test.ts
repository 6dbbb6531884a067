import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import { withCopySource } from "../../src/copy/copyConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

const next = {
  id: migrations.length + 1,
  name: "next",
  compatibility: "compatible",
  sql: "ALTER TABLE agent ADD future text",
} as const

layer(ScratchPostgres.layer)("the source of a copy", (it) => {
  it.effect("is refused if a newer version, or another build, wrote its schema", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      const copied = Effect.flip(withCopySource(url, () => Effect.die("the copy began")))
      yield* migrate(sql, { known: [...migrations, next] })
      assert.deepInclude(yield* copied, { reason: "newer" })
      yield* sql`UPDATE schema_migration SET checksum = 'edited' WHERE id = 1`
      assert.deepInclude(yield* copied, { reason: "other" })
    }),
  )
})
