import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { endOfFlag } from "../src/storage.ts"

describe("the address of a storage on the command line", () => {
  it.effect.each([
    "postgres://tocsin:word@db.example/tocsin",
    "postgresql:///tocsin?host=/run/postgresql&user=tocsin",
    "postgres://tocsin:word@db-1:5432,db-2:5432,db-3:5432/tocsin",
  ])("may be any that DATABASE_URL may be: %s", (address) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* endOfFlag("--to", address, Effect.succeed({}))).name, "PostgreSQL")
    }),
  )

  it.effect.each(["memory:", "mysql://db.example/tocsin", "postgres://tocsin:se/cret@db.example/tocsin"])(
    "is refused with the forms that it takes: %s",
    (address) =>
      Effect.gen(function* () {
        const { message } = yield* Effect.flip(endOfFlag("--to", address, Effect.succeed({})))
        assert.include(message, "percent-encoded")
        assert.notInclude(message, "se/cret")
      }),
  )

  it.effect("is refused where no module gives the storage that it names", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(endOfFlag("--to", "extension", Effect.succeed({})))
      assert.match(message, /^--to is extension, but no module of SERVICE_EXTENSIONS gives a storage/)
    }),
  )

  it.effect("is refused with the name of a variable that is not set", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(
        endOfFlag("--to", "env:TOCSIN_NO_SUCH_VARIABLE", Effect.succeed({})),
      )
      assert.strictEqual(message, "--to names a variable that is not set: export TOCSIN_NO_SUCH_VARIABLE")
    }),
  )
})
