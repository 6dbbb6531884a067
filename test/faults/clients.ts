import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { at, type Fault, type Place, type Setup, type Stage } from "./Fault.ts"

/** One server on PostgreSQL behaves as three of them do. */
const SETUPS: ReadonlyArray<Setup> = ["sqlite", "three on postgres"]

/** Opens connections to every server, until the scope closes. */
const crowd = ({ places }: Stage, count: number, open: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      places.flatMap(({ port }) =>
        Array.from({ length: Math.ceil(count / places.length) }, () => {
          const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {})
          socket.on("data", () => {})
          open(socket)
          return socket
        }),
      ),
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      }),
  )

const HEAD =
  "POST /api/v1/events HTTP/1.1\r\nHost: tocsin\r\nAuthorization: Bearer unknown\r\nContent-Length: 1000\r\n"

const drip = (socket: Socket): void => {
  let sent = 0
  const timer = setInterval(() => socket.write(HEAD.charAt(sent++ % HEAD.length)), 200)
  socket.on("close", () => clearInterval(timer))
}

const send = (place: Place, path: string, init: RequestInit): Promise<unknown> =>
  fetch(`${place.baseUrl}${path}`, { method: "POST", signal: AbortSignal.timeout(5_000), ...init }).then(
    (response) => response.arrayBuffer(),
    () => undefined,
  )

const SENDERS = 8

/** Sends to every server by several senders for 8 s. */
const flood = ({ places }: Stage, request: (place: Place) => Promise<unknown>) =>
  Effect.forEach(
    places.flatMap((place) => Array.from({ length: SENDERS }, () => place)),
    (place) => Effect.forever(Effect.promise(() => request(place))),
    { concurrency: "unbounded", discard: true },
  ).pipe(Effect.timeoutOption("8 seconds"), Effect.asVoid)

/** Bodies that a careless or hostile client may send. */
const BODIES: ReadonlyArray<string | Buffer> = [
  "",
  "null",
  "[]",
  "{",
  '"\\ud800"',
  '{"agent_id":"agent-0","events":[]}',
  '{"__proto__":{"agent_id":"agent-0"},"events":[{}]}',
  `{"agent_id":"agent-0","events":${"[".repeat(100_000)}`,
  `[${"0,".repeat(100_000)}0]`,
  `{"agent_id":"${"a".repeat(500_000)}"}`,
  Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
  Buffer.from("1f8b0800000000000003", "hex"),
  Buffer.alloc(2 * 1024 * 1024, " "),
]

/** Faults of clients beside the agents of the load. */
export const clientFaults: ReadonlyArray<Fault> = [
  {
    name: "slow clients",
    cause: "300 connections that send their request by a byte each 0.2 s, for 15 s",
    seen: "Nothing: each is answered with 408 after 10 s and closed.",
    setups: SETUPS,
    rounds: 1,
    prepare: at((stage) => Effect.andThen(crowd(stage, 300, drip), Effect.sleep("15 seconds"))),
  },
  {
    name: "half-open connections",
    cause: "300 connections that send half a request and then nothing, for 15 s",
    seen: "Nothing: each is answered with 408 after 10 s and closed.",
    setups: SETUPS,
    rounds: 1,
    prepare: at((stage) =>
      Effect.andThen(
        crowd(stage, 300, (socket) => socket.write(HEAD)),
        Effect.sleep("15 seconds"),
      ),
    ),
  },
  {
    name: "5,000 connections",
    cause: "5,000 clients that connect at the same time, ask for the health and stay; for 10 s",
    seen: "Answers take longer while they connect.",
    setups: SETUPS,
    rounds: 1,
    prepare: at((stage) =>
      Effect.andThen(
        crowd(stage, 5_000, (socket) => socket.write("GET /api/v1/health HTTP/1.1\r\nHost: tocsin\r\n\r\n")),
        Effect.sleep("10 seconds"),
      ),
    ),
  },
  {
    name: "flood of unknown keys",
    cause: "heartbeats and batches with another unknown key each, by 8 senders to each server; for 8 s",
    seen: "Unknown keys are answered with 401, 403 and 429. Known ones are answered as before.",
    setups: SETUPS,
    rounds: 1,
    prepare: at((stage) => {
      let sent = 0
      return flood(stage, (place) => {
        sent += 1
        const path = sent % 2 === 0 ? "/api/v1/heartbeat" : "/api/v1/events"
        const body = JSON.stringify({
          agent_id: `stranger-${sent}`,
          observed_at: "2026-01-01T00:00:00Z",
          hostname: "stranger",
          features: { push: true, metrics: false },
        })
        return send(place, path, { headers: { authorization: `Bearer stranger-${sent}` }, body })
      })
    }),
  },
  {
    name: "bodies of every shape",
    cause:
      "empty, broken, deep, wide, long, compressed and binary bodies, by 8 senders to each server; for 8 s",
    seen: "They are answered with 400, 403, 413 and 429. Others are answered as before.",
    setups: SETUPS,
    rounds: 1,
    prepare: at((stage) => {
      let sent = 0
      return flood(stage, (place) => {
        const body = BODIES[sent++ % BODIES.length] ?? ""
        const path = sent % 3 === 0 ? "/api/v1/heartbeat" : "/api/v1/events"
        return send(place, path, { headers: { authorization: "Bearer stranger" }, body: Buffer.from(body) })
      })
    }),
  },
]
