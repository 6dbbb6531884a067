import { createServer, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { UnreadAnswers } from "../../src/response/pipelining.ts"
import { until } from "../until.ts"

/** More than the system's own buffers of a connection take. */
const ANSWER = Buffer.alloc(16 * 1_048_576, "x")
const CLIENTS = 6

const serving = Effect.fnUntraced(function* (unread: UnreadAnswers) {
  const answers: Array<ServerResponse> = []
  const server = createServer((_request, response) => {
    answers.push(response)
    unread.watch(response)
    response.end(ANSWER)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections()),
  )
  const address = server.address()
  return { answers, port: typeof address === "object" && address !== null ? address.port : 0 }
})

it.live("answers that nobody reads hold so much together, and the oldest go first", () =>
  Effect.gen(function* () {
    const most = 3 * ANSWER.length
    const unread = new UnreadAnswers(most)
    const { answers, port } = yield* serving(unread)
    const sockets: Array<Socket> = []
    for (let asked = 1; asked <= CLIENTS; asked++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {})
      socket.pause()
      socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      sockets.push(socket)
      yield* until(() => answers.length === asked && answers.at(-1)?.writableEnded === true)
      assert.isAtMost(unread.bytes, most)
    }
    const gone = answers.map(({ destroyed }) => destroyed)
    assert.include(gone, true)
    // None that came later goes before one that came earlier.
    assert.deepStrictEqual(
      gone,
      gone.toSorted((a, b) => Number(b) - Number(a)),
    )
    assert.isFalse(gone.at(-1))
    for (const [at, socket] of sockets.entries())
      if (gone[at] === false) socket[at === CLIENTS - 2 ? "destroy" : "resume"]()
    yield* until(() => answers.every(({ destroyed, writableFinished }) => destroyed || writableFinished))
    assert.isTrue(answers.at(-1)?.writableFinished)
    yield* until(() => unread.bytes === 0)
    for (const socket of sockets) socket.destroy()
  }).pipe(Effect.scoped),
)
