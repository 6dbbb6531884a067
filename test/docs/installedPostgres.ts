import { execFile, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { promisify } from "node:util"
import { Effect, type Scope } from "effect"
import { until } from "../processes/until.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

const run = promisify(execFile)

/** The programs that pages call, of the same version as the server. */
const PROGRAMS = ["pg_dump", "pg_restore", "psql", "createdb", "dropdb", "initdb", "postgres", "pg_isready"]

const suffix = process.platform === "win32" ? ".exe" : ""

/**
 * The folder of a whole PostgreSQL of this machine; that of the tests' own PostgreSQL has no tools.
 */
export const postgresPrograms: string | undefined = [dirname(programPath("postgres") ?? "/none")].find(
  (folder) => PROGRAMS.every((program) => existsSync(join(folder, `${program}${suffix}`))),
)

/** Why there is none; `undefined` if there is. */
export const withoutPostgres =
  postgresPrograms === undefined ? (lacking("postgres") ?? "the PostgreSQL here lacks programs") : undefined

/** PostgreSQL refuses to run as root: there it runs as a user who may do nothing else. */
const owner = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

const scratch = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-installed-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
)

/**
 * Starts a server of the PostgreSQL installed in a folder, with an empty database of a new user,
 * until the scope ends. Returns the database's address.
 */
export const installedPostgres = Effect.fnUntraced(function* (
  programs: string,
): Effect.fn.Return<string, never, Scope.Scope> {
  const folder = yield* scratch
  const data = join(folder, "data")
  const ids = owner()
  mkdirSync(data, { mode: 0o700 })
  if (ids.uid !== undefined && ids.gid !== undefined)
    for (const path of [folder, data]) chownSync(path, ids.uid, ids.gid)
  const port = String(yield* Effect.promise(freePort))
  const program = (name: string, args: ReadonlyArray<string>) =>
    Effect.promise(() => run(join(programs, name), args, { ...ids, cwd: folder }))
  yield* program("initdb", ["-D", data, "-U", "tocsin", "-A", "trust", "-E", "UTF8", "--no-sync"])
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(join(programs, "postgres"), ["-D", data, "-p", port, "-h", "127.0.0.1", "-k", ""], {
        ...ids,
        cwd: folder,
        stdio: "ignore",
      }),
    ),
    (server) =>
      Effect.callback<void>((resume) => {
        server.once("close", () => resume(Effect.void))
        // Stops immediately, despite open connections.
        server.kill("SIGINT")
      }),
  )
  const ask = Effect.promise(() =>
    run(join(programs, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", port]).then(
      () => true,
      () => false,
    ),
  )
  yield* until("PostgreSQL takes connections", ask)
  yield* program("createdb", ["-h", "127.0.0.1", "-p", port, "-U", "tocsin", "tocsin"])
  return `postgres://tocsin@127.0.0.1:${port}/tocsin`
})
