import { connect } from "node:net"
import { Effect } from "effect"
import { at, type Fault, type Setup, type Stage } from "./Fault.ts"
import type { FaultyPostgres } from "./FaultyPostgres.ts"

const SETUPS: ReadonlyArray<Setup> = ["postgres", "three on postgres"]

const onPostgres = (
  inflict: (stage: Stage, postgres: FaultyPostgres, database: string) => Effect.Effect<void>,
): Fault["prepare"] =>
  at((stage) => {
    const { postgres } = stage
    const url = stage.places[0].databaseUrl
    if (postgres === undefined || url === undefined) return Effect.die("there is no PostgreSQL")
    return inflict(stage, postgres, new URL(url).pathname.slice(1))
  })

const terminated = (database: string): string =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`

/** More than it may have, with those that are not yet authenticated. */
const TOO_MANY = 300

/** Connections that take all the places of a PostgreSQL, and say nothing. */
const exhaust = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Array.from({ length: TOO_MANY }, () => connect({ port, host: "127.0.0.1" }).on("error", () => {})),
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      }),
  )

/** Faults of PostgreSQL's processes and of what it allows. */
export const postgresFaults: ReadonlyArray<Fault> = [
  {
    name: "PostgreSQL killed",
    cause: "SIGKILL to its main process, and a start up to 2 s later",
    seen: "Requests are answered with 500 and `Retry-After`. `/ready` is 503.",
    setups: SETUPS,
    rounds: 3,
    prepare: onPostgres(
      Effect.fnUntraced(function* (stage, { kill, start }) {
        yield* kill
        yield* stage.anyMoment(2_000)
        yield* start
        yield* stage.isOver
      }),
    ),
  },
  {
    name: "PostgreSQL restarted",
    cause: "an orderly restart that ends all connections",
    seen: "Requests are answered with 500 and `Retry-After` for as long as the restart takes.",
    setups: SETUPS,
    rounds: 3,
    prepare: onPostgres(
      Effect.fnUntraced(function* (stage, { start, stop }) {
        yield* stop
        yield* start
        yield* stage.isOver
      }),
    ),
  },
  {
    name: "PostgreSQL stopped",
    cause: "SIGSTOP to all of its processes for 12 s, then SIGCONT",
    seen: "Requests wait for `SERVICE_STORAGE_TIMEOUT` (10 s), then are answered with 500. `/ready` is 503 within 3 s.",
    setups: SETUPS,
    rounds: 1,
    prepare: onPostgres(
      Effect.fnUntraced(function* (stage, { pause, resume }) {
        yield* pause
        yield* Effect.sleep("12 seconds")
        yield* resume
        yield* stage.isOver
      }),
    ),
  },
  {
    name: "PostgreSQL refuses connections",
    cause: "`ALLOW_CONNECTIONS false` and the end of all connections, for 5 s",
    seen: "Requests are answered with 500 and `Retry-After`. `/ready` is 503.",
    setups: SETUPS,
    rounds: 2,
    prepare: onPostgres(
      Effect.fnUntraced(function* (stage, { run }, database) {
        yield* run(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`, terminated(database))
        yield* Effect.sleep("5 seconds")
        yield* run(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`)
        yield* stage.isOver
      }),
    ),
  },
  {
    name: "PostgreSQL out of connections",
    cause: "300 connections that say nothing take every place, and the server's own are ended; for 5 s",
    seen: "Requests are answered with 500 and `Retry-After`. `/ready` is 503.",
    setups: SETUPS,
    rounds: 2,
    prepare: onPostgres(
      Effect.fnUntraced(function* (_, postgres, database) {
        const administrate = yield* postgres.administrator
        yield* exhaust(postgres.port)
        yield* Effect.sleep("1 second")
        yield* administrate(terminated(database))
        yield* Effect.sleep("5 seconds")
      }, Effect.scoped),
    ),
  },
  {
    name: "every connection ended each second",
    cause: "`pg_terminate_backend` for each connection, ten times in 10 s",
    seen: "Requests under way are answered with 500 once a second.",
    setups: SETUPS,
    rounds: 1,
    prepare: onPostgres(
      Effect.fnUntraced(function* (stage, postgres, database) {
        for (let second = 0; second < 10; second++) {
          yield* postgres.run(terminated(database))
          yield* Effect.sleep("1 second")
        }
        yield* stage.isOver
      }),
    ),
  },
]
