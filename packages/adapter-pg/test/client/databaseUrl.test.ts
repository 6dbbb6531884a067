import { randomUUID } from "node:crypto"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"

const password = "pa55-of-the-test"

/** Everything a logger, a tracer or a debugger could make of it. */
const everythingIn = (cause: Cause.Cause<unknown>): string =>
  [
    Cause.pretty(cause),
    JSON.stringify(cause),
    inspect(cause, { depth: Infinity, showHidden: true, getters: true }),
    ...Cause.prettyErrors(cause).map((error) => `${error.stack}${inspect(error, { depth: Infinity })}`),
  ].join("\n")

const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? Effect.succeed(exit.cause) : Effect.die("it did not fail"),
  )

/** The scratch database's URL, changed: with another password, unless the change gives one. */
const changed = (url: Redacted.Redacted, change: Partial<URL>) =>
  Redacted.make(Object.assign(new URL(Redacted.value(url)), { password }, change).href)

layer(ScratchPostgres.layer)("the database's URL", (it) => {
  const unusable: ReadonlyArray<readonly [name: string, url: string]> = [
    ["another scheme", `mysql://tocsin:${password}@localhost/tocsin`],
    ["no scheme", `tocsin:${password}@localhost/tocsin`],
    ["a password that is not encoded", `postgres://tocsin:${password}/@localhost:5432/tocsin`],
    ["a port that is none", `postgres://tocsin:${password}@localhost:high/tocsin`],
    [
      "a certificate file that does not exist",
      `postgres://tocsin:${password}@localhost/tocsin?sslrootcert=/nowhere/ca.pem`,
    ],
    ["nothing", ""],
  ]
  for (const [name, url] of unusable) {
    it.effect(`with ${name} fails the layer, says what to write, and is not repeated`, () =>
      Effect.gen(function* () {
        const { replica } = yield* ScratchPostgres
        const cause = yield* failureOf(replica({ url: Redacted.make(url) }))
        const text = everythingIn(cause)
        assert.include(text, "write postgres://user:password@host:port/database")
        assert.notInclude(text, password)
        assert.notInclude(text, "/nowhere")
      }),
    )
  }

  const ignored: ReadonlyArray<readonly [url: string, said: string]> = [
    [`postgres://tocsin:${password}@one:5432,two:5432/tocsin`, "names several hosts"],
    [`postgresql://one,two/tocsin?sslmode=require`, "names several hosts"],
    [`postgres:///tocsin?host=one,two`, "names several hosts"],
    [`postgres:///tocsin?port=1&host=one%2ctwo`, "names several hosts"],
    [
      `postgres://tocsin:${password}@one/tocsin?target_session_attrs=read-write`,
      "contains target_session_attrs",
    ],
    [`postgres://one/tocsin?sslmode=disable&target_session_attrs=primary`, "contains target_session_attrs"],
  ]
  for (const [url, said] of ignored) {
    it.effect(`that ${said} fails the layer and says so: ${url.replace(password, "…")}`, () =>
      Effect.gen(function* () {
        const { replica } = yield* ScratchPostgres
        const text = everythingIn(yield* failureOf(replica({ url: Redacted.make(url) })))
        assert.include(text, said)
        assert.notInclude(text, password)
      }),
    )
  }

  it.effect("may have a comma in its password", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({
        url: changed(url, { password: "one,two" }),
      })
      assert.strictEqual((yield* Effect.flip(sql`SELECT 1`)).reason._tag, "AuthenticationError")
    }),
  )

  it.effect("with a wrong user or password is an AuthenticationError without the password", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({ url: changed(url, { username: "nobody_of_that_name" }) })
      const error = yield* Effect.flip(sql`SELECT 1`)
      assert.strictEqual(error.reason._tag, "AuthenticationError")
      assert.isFalse(error.isRetryable)
      assert.notInclude(everythingIn(yield* failureOf(sql`SELECT 1`)), password)
    }),
  )

  it.effect("with no server behind it is a ConnectionError without address or password", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({ url: changed(url, { hostname: "127.0.0.1", port: "1" }) })
      const cause = yield* failureOf(sql.withTransaction(sql`SELECT 1`))
      const text = everythingIn(cause)
      assert.include(text, "ConnectionError")
      assert.include(text, "ECONNREFUSED")
      assert.notInclude(text, "127.0.0.1")
      assert.notInclude(text, password)
    }),
  )

  it.effect("that asks for TLS of a server without it fails, and nothing is sent unencrypted", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({ url: changed(url, { search: "?sslmode=verify-full" }) })
      const error = yield* Effect.flip(sql`SELECT 1`)
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.notInclude(everythingIn(yield* failureOf(sql`SELECT 1`)), password)
    }),
  )

  it.effect("names certificates that are read once, when the layer is built", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const file = join(tmpdir(), `tocsin-ca-${randomUUID()}.pem`)
      yield* Effect.sync(() => writeFileSync(file, "no certificate"))
      const search = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`
      const { sql } = yield* replica({ url: changed(url, { search }) })
      yield* Effect.sync(() => rmSync(file))
      const error = yield* Effect.flip(sql`SELECT 1`)
      assert.strictEqual(error.reason._tag, "ConnectionError")
    }),
  )

  it.effect("is in no error of a connection that worked", () =>
    Effect.gen(function* () {
      const { killConnections, replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica()
      const secret = new URL(Redacted.value(url)).password
      const causes = [
        yield* failureOf(sql`SELECT 1 / 0`),
        yield* failureOf(sql.withTransaction(Effect.andThen(killConnections, sql`SELECT 1`))),
      ]
      for (const cause of causes) {
        assert.notInclude(everythingIn(cause), Redacted.value(url))
        if (secret !== "") assert.notInclude(everythingIn(cause), secret)
      }
    }),
  )

  it.effect("and the options set the connection's settings", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({
        applicationName: "tocsin of the tests",
        statementTimeout: "61 seconds",
        lockTimeout: "0.5 millis",
        idleInTransactionTimeout: "2 minutes",
      })
      const show = (name: string) => sql`SELECT current_setting(${name}) AS value`
      const expected: ReadonlyArray<readonly [string, string]> = [
        ["application_name", "tocsin of the tests"],
        ["statement_timeout", "61s"],
        ["lock_timeout", "1ms"],
        ["idle_in_transaction_session_timeout", "2min"],
      ]
      for (const [name, value] of expected) assert.deepStrictEqual(yield* show(name), [{ value }])
      const withOptions = new URL(Redacted.value(url))
      withOptions.searchParams.set("options", "-c work_mem=7MB")
      const other = yield* replica({ url: Redacted.make(withOptions.href) })
      assert.deepStrictEqual(yield* other.sql`SELECT current_setting('work_mem') AS value`, [
        { value: "7MB" },
      ])
    }),
  )
})
