import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** The server's reaction to one request. */
export type Manner =
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Cuts the connection before anything is answered, or in the middle of the answer's body. */
  | "cut"
  | "cut half-way"
  /** Never answers. */
  | "silent"
  /** Sends the head of an answer, and never its body. */
  | "silent half-way"
  /** Sends a body until nobody reads it: with its length in the head, or without. */
  | "endless"
  | "large"

/** A request as it arrived. */
export interface Arrival {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly headers: IncomingMessage["headers"]
}

/** A server that does as it is told: the n-th request in the n-th manner, and all later ones in the last. */
export interface FaultyServer {
  readonly address: string
  readonly arrivals: ReadonlyArray<Arrival>
  /** How many connections were closed by the client while it waited for an answer. */
  readonly givenUp: () => number
}

const JSON_HEAD = { "content-type": "application/json" }

const CHUNK = Buffer.alloc(65_536, " ")

const answer = (manner: Manner, response: ServerResponse): void => {
  if (manner === "cut") response.destroy()
  else if (manner === "cut half-way") {
    response.writeHead(200, { ...JSON_HEAD, "content-length": "1000" })
    response.write('{"items":[', () => response.destroy())
  } else if (manner === "silent half-way") {
    response.writeHead(200, JSON_HEAD)
    response.write('{"items":[')
  } else if (manner === "endless") {
    response.writeHead(200, JSON_HEAD)
    const more = () => {
      while (response.write(CHUNK));
    }
    response.on("drain", more)
    more()
  } else if (manner === "large") {
    response.writeHead(200, { ...JSON_HEAD, "content-length": String(2 ** 40) })
    response.write(CHUNK)
  } else if (manner !== "silent") {
    response.writeHead(manner.status, { ...JSON_HEAD, ...manner.headers })
    response.end(manner.body ?? "")
  }
}

/** Starts a server on a free port of this machine; it stops with the scope. */
export const faultyServer = Effect.fnUntraced(function* (
  ...manners: readonly [Manner, ...ReadonlyArray<Manner>]
) {
  const arrivals: Array<Arrival> = []
  let givenUp = 0
  const server = createServer((request, response) => {
    const manner = manners[Math.min(arrivals.length, manners.length - 1)] ?? manners[0]
    const { method = "", url = "", headers } = request
    arrivals.push({ method, path: url, authorization: headers.authorization, headers })
    response.on("close", () => {
      if (!response.writableFinished && !response.destroyed) givenUp += 1
      else if (typeof manner === "string" && manner.startsWith("silent")) givenUp += 1
    })
    request.resume().on("end", () => answer(manner, response))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
  )
  // Bound to a port, as was asked for.
  const { port } = server.address() as AddressInfo
  const started: FaultyServer = { address: `http://127.0.0.1:${port}`, arrivals, givenUp: () => givenUp }
  return started
})

/** The body of an error, as the contract has it. */
export const errorBody = (code: string): string =>
  JSON.stringify({ error: { code, message: `because of ${code}`, request_id: "request-1" } })

const counts = {
  agents_online: 1,
  agents_offline: 0,
  checks_ok: 2,
  checks_warning: 0,
  checks_critical: 0,
  checks_unknown: 0,
  open_incidents: 0,
}

/** The summary that a healthy service answers with. */
export const SUMMARY = { ...counts, generated_at: "2026-01-31T08:30:00.000Z" }

/** An answer with {@link SUMMARY}. */
export const healthy: Manner = { status: 200, body: JSON.stringify(SUMMARY) }
