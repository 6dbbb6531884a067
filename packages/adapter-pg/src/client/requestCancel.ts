import pg from "pg"

/** What the driver has but does not declare (pg 8.23): the key that PostgreSQL gave a connection, and its socket. */
interface CancelTarget {
  readonly processID: number
  readonly secretKey: number
}
interface Dialler {
  readonly host: string
  readonly port: number
  readonly ssl: unknown
  readonly sslNegotiation: string
  readonly connection: {
    readonly stream: { readonly destroy: () => void }
    readonly connect: ((port: number, host: string) => void) & ((path: string) => void)
    readonly requestSsl: () => void
    readonly cancel: (processID: number, secretKey: number) => void
    readonly on: (
      event: "connect" | "sslconnect" | "end" | "error",
      listener: (error?: unknown) => void,
    ) => void
  }
}

/**
 * Asks PostgreSQL to cancel what a connection is running. Resolves when the server has passed the request on, which it
 * says by closing; rejects when it cannot be reached or the signal aborts.
 *
 * Why not the alternatives: closing the socket leaves the statement running, with its locks, until PostgreSQL next
 * writes to it, and one outside a transaction would even commit. `pg_cancel_backend` needs a whole session, so a place
 * that a full server does not have, and a process id, which behind a pooler is somebody else's. `Client.cancel` of the
 * driver does not speak TLS.
 */
export const requestCancel = (
  config: pg.ClientConfig,
  client: pg.ClientBase,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    // Both casts: undeclared members of the driver, whose version is pinned; the tests of interruption use them.
    const { processID, secretKey } = client as unknown as CancelTarget
    const { connection, host, port, ssl, sslNegotiation } = new pg.Client(config) as unknown as Dialler
    const abort = () => {
      connection.stream.destroy()
      reject(signal.reason)
    }
    const cancel = () => connection.cancel(processID, secretKey)
    signal.addEventListener("abort", abort, { once: true })
    connection.on("connect", () => {
      if (!ssl) cancel()
      else if (sslNegotiation !== "direct") connection.requestSsl()
    })
    connection.on("sslconnect", cancel)
    connection.on("error", reject)
    connection.on("end", () => {
      signal.removeEventListener("abort", abort)
      resolve()
    })
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
