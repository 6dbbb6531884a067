import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import { readDatabaseUrl } from "../../src/client/databaseUrl.ts"
import { toStorageError } from "../../src/toStorageError.ts"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { testsFrom } from "@tocsin/testing/testsFrom"

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

const withPassword = (url: string): string => url.replace("me@", `me:${password}@`)

/** The scratch database's URL, changed: with another password, unless the change gives one. */
const changed = (url: Redacted.Redacted, change: Partial<URL>) =>
  Redacted.make(Object.assign(new URL(Redacted.value(url)), { password }, change).href)

layer(ScratchPostgres.layer)("the database's URL", (it) => {
  const test = testsFrom(ScratchPostgres, it.effect)

  const unusable: ReadonlyArray<readonly [name: string, url: string]> = [
    ["another scheme", `mysql://tocsin:${password}@localhost/tocsin`],
    ["no scheme", `tocsin:${password}@localhost/tocsin`],
    ["a password that is not encoded", `postgres://tocsin:${password}/@localhost:5432/tocsin`],
    ["a port that is none", `postgres://tocsin:${password}@localhost:high/tocsin`],
    ["fewer ports than hosts", `postgres://tocsin:${password}@/tocsin?host=one,two,three&port=1,2`],
    ["no host behind a comma", `postgres://tocsin:${password}@one,:5432/tocsin`],
    ["nothing", ""],
  ]
  for (const [name, url] of unusable) {
    test(`with ${name} fails the layer, says what to write, and is not repeated`, function* ({ replica }) {
      const cause = yield* failureOf(replica({ url: Redacted.make(url) }))
      const text = everythingIn(cause)
      assert.include(text, "write postgres://user:password@host:port/database")
      assert.notInclude(text, password)
      assert.notInclude(text, "/nowhere")
    })
  }

  const several: ReadonlyArray<readonly [url: string, servers: ReadonlyArray<string>]> = [
    [
      "postgres://me@one:5432,two:5433/tocsin",
      ["postgres://me@one:5432/tocsin", "postgres://me@two:5433/tocsin"],
    ],
    [
      "postgresql://one,[::1]:1,three/tocsin?sslmode=require",
      ["postgresql://one/tocsin", "postgresql://[::1]:1/tocsin", "postgresql://three/tocsin"],
    ],
    ["postgres://me@/t?host=/run", ["postgres:///t?host=%2Frun&user=me"]],
    ["postgres://me@:1/t?host=/run", ["postgres:///t?host=%2Frun&user=me&port=1"]],
    ["postgres://:1/t?host=/run&port=2", ["postgres:///t?host=%2Frun&port=2"]],
    ["postgres://%2Frun/t", ["postgres://%2Frun/t"]],
    ["postgres:///t?host=one,two", ["postgres:///t?host=one", "postgres:///t?host=two"]],
    [
      "postgres:///t?port=1&host=one%2ctwo",
      ["postgres:///t?port=1&host=one", "postgres:///t?port=1&host=two"],
    ],
    [
      "postgres:///t?port=1,2&host=/run/one,two&target_session_attrs=read-write",
      [
        "postgres:///t?port=1&host=%2Frun%2Fone&target_session_attrs=read-write",
        "postgres:///t?port=2&host=two&target_session_attrs=read-write",
      ],
    ],
  ]
  for (const [url, servers] of several) {
    it.effect(`names each server, as in libpq: ${url}`, () =>
      Effect.gen(function* () {
        const { password: found, servers: named } = yield* readDatabaseUrl(Redacted.make(withPassword(url)))
        assert.deepStrictEqual(
          named.map((server) => Redacted.value(server.url)),
          servers,
        )
        assert.strictEqual(Redacted.value(found), url.includes("@") ? password : "")
      }),
    )
  }

  for (const role of ["standby", "read-only", "prefer-standby"]) {
    test(`that asks for a ${role} server fails the layer and says so`, function* ({ replica }) {
      const url = Redacted.make(`postgres://me:${password}@one,two/t?target_session_attrs=${role}`)
      const text = everythingIn(yield* failureOf(replica({ url })))
      assert.include(text, "asks for a standby")
      assert.notInclude(text, password)
    })
  }

  test("may have a comma in its password", function* ({ replica, url }) {
    const { sql } = yield* replica({
      url: changed(url, { password: "one,two" }),
    })
    assert.strictEqual((yield* Effect.flip(sql`SELECT 1`)).reason._tag, "AuthenticationError")
  })

  test("without a password, of a server that asks for one, says so", function* ({ replica, url }) {
    const { sql } = yield* replica({ url: changed(url, { password: "" }) })
    const { message } = toStorageError(yield* Effect.flip(sql`SELECT 1`))
    assert.match(message, /^The database URL has no password/)
  })

  test("with a wrong user or password is an AuthenticationError without the password", function* (opened) {
    const { replica, url } = opened
    const { sql } = yield* replica({ url: changed(url, { username: "nobody_of_that_name" }) })
    const error = yield* Effect.flip(sql`SELECT 1`)
    assert.strictEqual(error.reason._tag, "AuthenticationError")
    assert.isFalse(error.isRetryable)
    assert.notInclude(everythingIn(yield* failureOf(sql`SELECT 1`)), password)
  })

  test("with no server behind it is a ConnectionError without address or password", function* (opened) {
    const { replica, url } = opened
    const { sql } = yield* replica({ url: changed(url, { hostname: "127.0.0.1", port: "1" }) })
    const cause = yield* failureOf(sql.withTransaction(sql`SELECT 1`))
    const text = everythingIn(cause)
    assert.include(text, "ConnectionError")
    assert.include(text, "ECONNREFUSED")
    assert.notInclude(text, "127.0.0.1")
    assert.notInclude(text, password)
  })

  test("that asks for TLS of a server without it fails, and nothing is sent unencrypted", function* (opened) {
    const { replica, url } = opened
    const { sql } = yield* replica({ url: changed(url, { search: "?sslmode=verify-full" }) })
    const error = yield* Effect.flip(sql`SELECT 1`)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.notInclude(everythingIn(yield* failureOf(sql`SELECT 1`)), password)
  })

  test("is in no error of a connection that worked", function* ({ killConnections, replica, url }) {
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
  })

  test("and the options set the connection's settings", function* ({ replica, url }) {
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
    assert.deepStrictEqual(yield* other.sql`SELECT current_setting('work_mem') AS value`, [{ value: "7MB" }])
  })
})
