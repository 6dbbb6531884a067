import { createServer, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { pipelining } from "../../src/response/pipelining.ts"
import { until } from "../until.ts"

/** A server that answers by `answer` in order, what it has handled, and a client that does not read. */
const served = Effect.fnUntraced(function* (answer: (response: ServerResponse) => void) {
  const seen = { arrived: 0, handled: new Array<string>() }
  const server = createServer((request, response) => {
    seen.arrived += 1
    pipelining(request.socket, response, () => {
      seen.handled.push(request.url ?? "")
      answer(response)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections()),
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(port, "127.0.0.1").pause()),
    (made) => Effect.sync(() => made.destroy()),
  )
  return { seen, socket }
})

const requestsOf = (urls: ReadonlyArray<string>): string =>
  urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`).join("")

const urlsTo = (count: number): Array<string> => Array.from({ length: count }, (_, n) => `/${n}`)

it.live("requests of one read are handled one by one, each once the answer before it is sent", () =>
  Effect.gen(function* () {
    // More than the system's own buffers of a connection take.
    const large = Buffer.alloc(16 * 1_048_576, "x")
    const { seen, socket } = yield* served((response) => response.end(large))
    const urls = urlsTo(4)
    socket.write(requestsOf(urls))
    yield* until(() => seen.arrived === urls.length)
    assert.deepStrictEqual(seen.handled, ["/0"])
    socket.resume()
    yield* until(() => seen.handled.length === urls.length)
    assert.deepStrictEqual(seen.handled, urls)
  }).pipe(Effect.scoped),
)

it.live("behind a long answer only so much is read, and the rest once it has ended", () =>
  Effect.gen(function* () {
    const held: Array<ServerResponse> = []
    let isHeld = true
    const { seen, socket } = yield* served((response) =>
      isHeld ? void held.push(response) : void response.end(),
    )
    const urls = urlsTo(50_000)
    socket.resume()
    socket.write(requestsOf(urls))
    let before = 0
    // It stands still once nothing more is read.
    yield* until(() => {
      const isStill = seen.arrived > 0 && seen.arrived === before
      before = seen.arrived
      return isStill
    })
    assert.isBelow(seen.arrived, urls.length / 2)
    assert.deepStrictEqual(seen.handled, ["/0"])
    isHeld = false
    for (const response of held) response.end()
    yield* until(() => seen.handled.length === urls.length)
    assert.deepStrictEqual(seen.handled, urls)
  }).pipe(Effect.scoped),
)

it.live("requests behind the last answer of a connection are dropped", () =>
  Effect.gen(function* () {
    const { seen, socket } = yield* served((response) => response.setHeader("connection", "close").end())
    socket.resume()
    socket.write(requestsOf(urlsTo(4)))
    yield* until(() => socket.closed)
    assert.deepStrictEqual([seen.arrived, seen.handled], [4, ["/0"]])
  }).pipe(Effect.scoped),
)
