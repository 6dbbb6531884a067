import { createServer, type AddressInfo } from "node:net"
import { startPostgres } from "@tocsin/test/postgres/startPostgres"
import { AT_LENGTH, unlessAtLength } from "@tocsin/test/properties/atLength"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { PgClient } from "../../src/client/PgClient.ts"
import { orElse } from "../../src/client/Primary.ts"
import { NO_TLS, NOT_LET_IN } from "../../src/client/toSqlError.ts"

/** A port that takes connections and never answers. */
const hangingServer = Effect.acquireRelease(
  Effect.callback<readonly [port: number, close: () => void]>((resume) => {
    const server = createServer(() => {})
    server.listen(0, "127.0.0.1", () => {
      resume(Effect.succeed([(server.address() as AddressInfo).port, () => server.close()]))
    })
  }),
  ([, close]) => Effect.sync(close),
)

/** One URL for several servers of the same user and password. */
const together = (...urls: ReadonlyArray<string>): string => {
  const [first = "", ...others] = urls
  return first.replace(
    /@([^/]*)\//,
    (_, host) => `@${[host, ...others.map((url) => new URL(url).host)].join(",")}/`,
  )
}

const clientOf = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })), (services) =>
    Context.get(services, SqlClient.SqlClient),
  )

const portOf = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ port: string; role: string }>`SELECT current_setting('port') AS port`,
    ([row]) => row?.port,
  )

const messageOf = <A>(effect: Effect.Effect<A, { readonly message: string }, never>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const isUp = Schedule.spaced("100 millis")

describe("a URL of several servers", () => {
  // The failover is one of test/failover, with three servers of Tocsin.
  it.live.skipIf(!AT_LENGTH)(
    `leads to the one that takes writes, also after another has been promoted${unlessAtLength}`,
    () =>
      Effect.gen(function* () {
        const { kill, promote, standbyOf, url } = yield* Effect.acquireRelease(
          Effect.promise(startPostgres),
          ({ stop }) => Effect.promise(stop),
        )
        const standby = yield* Effect.promise(() => standbyOf(url))
        const [port, hanging] = [new URL(standby).port, (yield* hangingServer)[0]]
        const alone = yield* clientOf(standby)
        const none = "No server in the database URL takes writes"
        assert.include(yield* messageOf(portOf(alone)), none)

        const sql = yield* clientOf(together(`${standby.replace(`:${port}/`, `:${hanging}/`)}`, standby, url))
        assert.strictEqual(yield* portOf(sql), new URL(url).port)
        yield* sql`CREATE TABLE written (at int)`
        yield* sql`INSERT INTO written VALUES (1)`
        yield* Effect.promise(() => kill(url))
        // The processes of a killed server live until they see it.
        const failure = yield* Effect.retry(messageOf(portOf(sql)), isUp)
        assert.match(failure, /connection to PostgreSQL|takes writes/)
        assert.include(yield* messageOf(portOf(sql)), none)

        yield* Effect.promise(() => promote(standby))
        assert.strictEqual(yield* Effect.retry(portOf(sql), isUp), port)
        yield* sql`INSERT INTO written VALUES (2)`
        assert.strictEqual(yield* Effect.retry(portOf(alone), isUp), port)
      }),
    120_000,
  )

  it.live(
    "leads to the one that was promoted last, if a former primary takes writes too",
    () =>
      Effect.gen(function* () {
        const { promote, standbyOf, url } = yield* Effect.acquireRelease(
          Effect.promise(startPostgres),
          ({ stop }) => Effect.promise(stop),
        )
        const standby = yield* Effect.promise(() => standbyOf(url))
        yield* Effect.promise(() => promote(standby))
        yield* Effect.retry(Effect.flatMap(clientOf(standby), portOf), isUp)
        for (const both of [together(url, standby), together(standby, url)]) {
          assert.strictEqual(yield* Effect.flatMap(clientOf(both), portOf), new URL(standby).port)
        }
      }),
    120_000,
  )
})

describe("a server that is asked over TLS and then in plain text", () => {
  const notLetIn = (message: string) =>
    Object.assign(new Error(message), { severity: "FATAL", code: NOT_LET_IN })
  const refusing = (cause: Error) => {
    const seen = { asked: 0 }
    const get = Effect.suspend(() => {
      seen.asked += 1
      return new SqlError.SqlError({
        reason: new SqlError.ConnectionError({ cause, message: cause.message }),
      })
    })
    return { seen, server: { get, invalidate: () => Effect.void } }
  }

  it.effect.each([
    [new Error(NO_TLS), notLetIn("plain"), "plain", 1],
    [notLetIn("secured"), notLetIn("plain"), "secured", 1],
    [new Error("reset"), notLetIn("plain"), "reset", 0],
  ] as const)("is asked once in each way: %s, %s", ([first, second, words, times]) =>
    Effect.gen(function* () {
      const [secured, plain] = [refusing(first), refusing(second)]
      const { get } = orElse(secured.server, plain.server, [NO_TLS, NOT_LET_IN])
      const { message } = yield* Effect.flip(Effect.scoped(get))
      assert.deepStrictEqual([message, secured.seen.asked, plain.seen.asked], [words, 1, times])
    }),
  )
})
