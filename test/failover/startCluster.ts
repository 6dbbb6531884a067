import { Effect } from "effect"
import { startPostgres } from "../postgres/startPostgres.ts"
import { until } from "../processes/until.ts"
import { administrator, untilMoreIsCommitted } from "./administrator.ts"
import type { Cluster } from "./scenario.ts"

/** Has every COMMIT of a primary wait until its standby has written it. */
const makeSynchronous = Effect.fnUntraced(
  function* (url: string) {
    const sql = yield* administrator(url)
    yield* sql`ALTER SYSTEM SET synchronous_standby_names = '*'`
    yield* sql`SELECT pg_reload_conf()`
    yield* until(
      "the standby is synchronous",
      Effect.map(sql`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`, (rows) => rows.length === 1),
    )
  },
  Effect.scoped,
  Effect.orDie,
)

/** Waits until a primary without a standby has committed more. */
const commitMore = Effect.fnUntraced(
  function* (primary: string) {
    const sql = yield* administrator(primary)
    yield* until(
      "replication ends",
      Effect.map(sql`SELECT FROM pg_stat_replication`, (rows) => rows.length === 0),
    )
    yield* untilMoreIsCommitted(sql)
  },
  Effect.scoped,
  Effect.orDie,
)

/** A primary and a standby, which `pg_promote` puts in its place. */
export const startCluster = (isSynchronous: boolean) =>
  Effect.gen(function* () {
    const postgres = yield* Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) =>
      Effect.promise(stop),
    )
    let primary = postgres.url
    let standby = yield* Effect.promise(() => postgres.standbyOf(primary))
    if (isSynchronous) yield* makeSynchronous(primary)
    const failOver = Effect.gen(function* () {
      if (!isSynchronous) {
        yield* Effect.promise(() => postgres.detach(standby))
        yield* commitMore(primary)
      }
      yield* Effect.promise(() => postgres.kill(primary))
      yield* Effect.promise(() => postgres.promote(standby))
    })
    const repair = Effect.gen(function* () {
      const killed = primary
      primary = standby
      standby = yield* Effect.promise(() => postgres.standbyOf(primary, killed))
      if (isSynchronous) yield* makeSynchronous(primary)
    })
    const url = primary.replace(/@([^/]*)\//, `@$1,${new URL(standby).host}/`)
    return { url, isSynchronous, failOver, repair } satisfies Cluster
  })
