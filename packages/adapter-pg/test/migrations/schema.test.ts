import { assert, expect, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import { checksumOf, migrate, migrations } from "../../src/migrations/migrate.ts"
import { schemaManifest } from "./schemaManifest.ts"

/** Fails unless a text is that of a committed file; `vitest -u` writes the file, whose difference is then to be reviewed. */
const assertCommitted = (text: string, file: string) =>
  Effect.promise(() => expect(text).toMatchFileSnapshot(file))

layer(ScratchPostgres.layer)("the schema", (it) => {
  it.effect("is the one that is committed", () =>
    Effect.gen(function* () {
      const { replica } = yield* ScratchPostgres
      const { sql } = yield* replica()
      yield* migrate(sql)
      yield* assertCommitted(yield* schemaManifest(sql), "schema.txt")
    }),
  )

  it.effect("is made by the migrations that are committed: a released one is never edited", () =>
    assertCommitted(
      migrations.map((one) => `${one.id} ${one.name} ${one.compatibility} ${checksumOf(one)}\n`).join(""),
      "checksums.txt",
    ),
  )

  it.effect("compares all text bytewise", () =>
    Effect.gen(function* () {
      const { replica } = yield* ScratchPostgres
      const { sql } = yield* replica()
      yield* migrate(sql)
      const others = (yield* schemaManifest(sql))
        .split("\n")
        .filter((line) => / text(?! COLLATE "C")/.test(line))
      assert.deepStrictEqual(
        others.filter((line) => line.startsWith("column")),
        [],
      )
    }),
  )
})
