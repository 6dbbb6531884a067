import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Clock, Effect, Redacted, type Scope } from "effect"
import { until } from "../processes/until.ts"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"

const program = programPath("pgbouncer")

/** Why tests with PgBouncer are skipped; `undefined` if it is installed. */
export const withoutPgBouncer = lacking("pgbouncer")

/** From 1.21 on, it keeps the prepared statements of its clients in transaction mode. */
const MINOR_WITH_STATEMENTS = 21

const findOldVersion = (path: string): string | undefined => {
  const version = execFileSync(path, ["--version"], { encoding: "utf8" })
  const [name = "PgBouncer", major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(version) ?? []
  const isOld = Number(major) === 1 && Number(minor) < MINOR_WITH_STATEMENTS
  return isOld ? `${name} prepares no statements in this mode: name 1.21 or newer in PGBOUNCER` : undefined
}

/** Why tests of its transaction mode are skipped; `undefined` if it supports prepared statements. */
export const withoutTransactionMode = program === undefined ? withoutPgBouncer : findOldVersion(program)

/** It refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const isListening = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => resume(Effect.succeed(true)))
    socket.on("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

/** Starts a PgBouncer before the server of a URL; ends with the scope. Returns the way through it. */
export const throughPgBouncer = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  mode: "session" | "transaction" = "session",
): Effect.fn.Return<Redacted.Redacted, never, Scope.Scope> {
  const target = new URL(Redacted.value(url))
  const port = yield* Effect.promise(freePort)
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-pgbouncer-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true })),
  )
  const settings = join(folder, "pgbouncer.ini")
  const password = decodeURIComponent(target.password)
  writeFileSync(
    settings,
    `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 60
${mode === "transaction" ? "max_prepared_statements = 200" : ""}
`,
  )
  for (const path of [folder, settings]) chmodSync(path, 0o755)
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn(program ?? "pgbouncer", ["-q", settings], { stdio: "ignore", ...NOBODY })),
    (child) => Effect.sync(() => child.kill("SIGKILL")),
  )
  // The clock of tests stands still.
  yield* Effect.provideService(
    until("PgBouncer listens", isListening(port)),
    Clock.Clock,
    Clock.Clock.defaultValue(),
  )
  return Redacted.make(Object.assign(new URL(target), { port: String(port) }).href)
})
