import type * as Session from "@effect/sql-pg/PgConnection"
import type * as Pools from "@effect/sql-pg/PgPool"
import { Deferred, Duration, Effect, Exit, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { inRealTime, pause } from "../RealTime.ts"
import { refusalOf, sqlError, toSqlError } from "./toSqlError.ts"

/**
 * How long the other servers may take to answer once one has. One that hangs must not hold up the
 * others, and a primary that is only slow must not be passed over for a server of an older timeline.
 */
const GRACE = Duration.seconds(2)

const isStandby = "pg_is_in_recovery()"

/** Its first column says whether the server is a standby. More columns may follow. */
export const ASK_ROLE = `SELECT ${isStandby}`

/** The timeline grows with each promotion. */
const ASK_TIMELINE = `${ASK_ROLE}, CASE WHEN NOT ${isStandby}
  THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint::float8 END`

/** A standby repeats what the primary was, and takes no writes: it counts as a server that is down. */
export const standbyFailure = sqlError("ConnectionError", {
  message:
    "No server in the database URL takes writes: start the primary or promote a standby, or name the primary in the URL",
  operation: "connect",
})

/** Servers that cannot be used, as conditions, each with what to do. */
const UNFIT = [
  {
    when: "current_setting('server_version_num')::int < 150000",
    message: "this version of PostgreSQL is too old: upgrade it to 15 or later",
  },
  {
    // PGlite, whose socket gives all connections one session (seen with 0.5): it is compiled to WebAssembly.
    when: "version() ~* 'emcc|emscripten|wasm'",
    message:
      "this is PGlite, where all connections are one session, and so one transaction: use a PostgreSQL server",
  },
  {
    // Triggers keep the totals and the rows of lists. Only a superuser may change it, so a session cannot set it right.
    when: "current_setting('session_replication_role') = 'replica'",
    message:
      "session_replication_role is replica, so no trigger keeps Tocsin's totals: reset it for the user and the database (ALTER ROLE and ALTER DATABASE … RESET session_replication_role)",
  },
]

/** A column with the number of the first condition that a server meets. */
export const ASK_FITNESS = `CASE ${UNFIT.map(({ when }, at) => `WHEN ${when} THEN ${at}`).join(" ")} END`

/** Why a server cannot be used, by the value of {@link ASK_FITNESS}. */
export const unfit = (found: unknown): SqlError.SqlError | undefined => {
  const condition = typeof found === "number" ? UNFIT[found] : undefined
  if (condition === undefined) return undefined
  const { message } = condition
  return sqlError("UnknownError", { message, operation: "connect" })
}

/** The connections to one server. */
export type PgServer = Pick<Pools.PgPool, "get" | "invalidate">

/**
 * The first until it fails for one of the reasons that the second one may do without; from then on the second, once it
 * has answered. Where the second fails for the same reason, the first one's words count.
 */
export const orElse = (first: PgServer, second: PgServer, reasons: ReadonlyArray<string>): PgServer => {
  let server = first
  const change = Effect.tap(second.get, () =>
    Effect.sync(() => {
      server = second
    }),
  )
  return {
    get: Effect.suspend(() =>
      server === second
        ? second.get
        : Effect.catch(first.get, (error) => {
            const refusal = refusalOf(error)
            return refusal !== undefined && reasons.includes(refusal)
              ? Effect.mapError(change, (other) => (refusalOf(other) === refusal ? error : other))
              : Effect.fail(error)
          }),
    ),
    invalidate: (session) => server.invalidate(session),
  }
}

/** The server that takes writes (docs/decisions/0027). It is looked for when its connections fail. */
export class Primary {
  readonly #servers: ReadonlyArray<PgServer>
  readonly #scope: Scope.Scope
  readonly #owners = new WeakMap<Session.PgConnection, PgServer>()
  #known: PgServer | undefined
  #searching: Deferred.Deferred<PgServer, SqlError.SqlError> | undefined

  private constructor(servers: ReadonlyArray<PgServer>, scope: Scope.Scope) {
    this.#servers = servers
    this.#scope = scope
    this.lose()
  }

  /** Searches for the primary end with the scope. */
  static readonly make = (servers: ReadonlyArray<PgServer>): Effect.Effect<Primary, never, Scope.Scope> =>
    Effect.map(Effect.scope, (scope) => new Primary(servers, scope))

  readonly get: Effect.Effect<Session.PgConnection, SqlError.SqlError, Scope.Scope> = Effect.suspend(() => {
    const known = this.#known
    if (known === undefined) return Effect.flatMap(this.#find, this.#lend)
    if (this.#servers.length === 1) return this.#lend(known)
    return Effect.catch(this.#lend(known), () => {
      this.lose()
      return Effect.flatMap(this.#find, this.#lend)
    })
  })

  /** Closes a session once it is returned. */
  readonly invalidate = (session: Session.PgConnection): Effect.Effect<void> =>
    this.#owners.get(session)?.invalidate(session) ?? Effect.void

  lose(): void {
    this.#known = this.#servers.length === 1 ? this.#servers[0] : undefined
  }

  /** Whether another server may take writes if this one does not. */
  get hasOthers(): boolean {
    return this.#servers.length > 1
  }

  readonly #lend = (server: PgServer) =>
    Effect.tap(
      Effect.mapError(inRealTime(server.get), (error) =>
        toSqlError(error, { operation: "connect", isLate: false }),
      ),
      (session) => Effect.sync(() => this.#owners.set(session, server)),
    )

  /** Callers that wait share a search, and end without ending it. */
  readonly #find: Effect.Effect<PgServer, SqlError.SqlError> = Effect.suspend(() => {
    if (this.#searching !== undefined) return Deferred.await(this.#searching)
    const searching = Deferred.makeUnsafe<PgServer, SqlError.SqlError>()
    this.#searching = searching
    const search = Effect.onExit(this.#search, (exit) => {
      this.#searching = undefined
      if (Exit.isSuccess(exit)) this.#known = exit.value
      return Deferred.done(searching, exit)
    })
    return Effect.andThen(Effect.forkIn(search, this.#scope), Deferred.await(searching))
  })

  readonly #search: Effect.Effect<PgServer, SqlError.SqlError> = Effect.suspend(() => {
    const answered = Deferred.makeUnsafe<void>()
    const failures: Array<SqlError.SqlError> = []
    let found: { readonly server: PgServer; readonly timeline: number } | undefined
    let hasStandby = false
    const ask = (server: PgServer) =>
      Effect.scoped(
        Effect.flatMap(this.#lend(server), (session) => session.queryValues(ASK_TIMELINE, [], false)),
      ).pipe(
        Effect.flatMap(([row]) => {
          const timeline = row?.[1]
          if (typeof timeline !== "number") hasStandby = true
          // Two servers take writes when a former primary has come back: its timeline is the older one.
          else if (found === undefined || timeline > found.timeline) found = { server, timeline }
          return Deferred.succeed(answered, undefined)
        }),
        Effect.catch((error) => Effect.sync(() => failures.push(error))),
      )
    const all = Effect.forEach(this.#servers, ask, { concurrency: "unbounded", discard: true })
    const some = Effect.andThen(Deferred.await(answered), pause(GRACE))
    return Effect.flatMap(Effect.raceFirst(all, some), () => {
      if (found !== undefined) return Effect.succeed(found.server)
      const [failure] = failures
      return hasStandby || failure === undefined ? standbyFailure : failure
    })
  })
}
