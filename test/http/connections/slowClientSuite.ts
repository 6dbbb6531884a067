import type { Socket } from "node:net"
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call } from "../client/call.ts"
import { exchange, requestText, statusesOf } from "../client/exchange.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { acceptedAgent, heartbeatBody } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { nodeServer } from "../service/nodeServer.ts"
import { assertRefused } from "./assertRefused.ts"

const dribble = (socket: Socket, text: string): void => {
  let sent = 0
  const timer = setInterval(() => {
    if (socket.writable && sent < text.length) socket.write(text.charAt(sent++))
  }, 20)
  socket.on("close", () => clearInterval(timer))
}

/** Clients that take their time (docs/rules.md#slow-clients). */
export const slowClientSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a client has 10 s for its headers and 30 s for a request", () =>
    Effect.gen(function* () {
      const { headersTimeout, requestTimeout } = yield* nodeServer
      assert.deepStrictEqual(
        { headersTimeout, requestTimeout },
        { headersTimeout: 10_000, requestTimeout: 30_000 },
      )
    }),
  )

  scenario("a kept connection gives headers no more time", () =>
    Effect.gen(function* () {
      const server = yield* nodeServer
      server.headersTimeout = 50
      // node:http waits for ever here: only the rest of the first limit ends it.
      server.once("connection", () => Object.assign(server, { headersTimeout: 0, requestTimeout: 0 }))
      const received = yield* exchange("GET /api/v1/hea")
      assertRefused(received, 408)
    }),
  )

  // The limits are checked every second, so each takes one or two more.
  const slow = { headersTimeout: 200, requestTimeout: 300 }

  scenario("a slower client gets 408, and its connection is closed", () =>
    Effect.gen(function* () {
      Object.assign(yield* nodeServer, slow)
      const agent = yield* acceptedAgent()
      const body = JSON.stringify(heartbeatBody(agent, { hostname: "too-late" }))
      const headers = { Authorization: `Bearer ${agent.key}` }
      const whole = requestText("POST /api/v1/heartbeat", {
        ...headers,
        "Content-Length": String(body.length),
      })
      const parts = requestText("POST /api/v1/heartbeat", { ...headers, "Transfer-Encoding": "chunked" })
      const slowly: ReadonlyArray<string | ((socket: Socket) => void)> = [
        "GET /api/v1/hea",
        "GET /api/v1/health HTTP/1.1\r\nHost: tocsin\r\nX-A: ",
        (socket) => dribble(socket, requestText("GET /api/v1/health", { "X-Long": "x".repeat(5_000) })),
        whole,
        whole + body.slice(0, -1),
        parts,
        `${parts}5\r\n{"age`,
        (socket) => {
          socket.write(whole)
          dribble(socket, body.padStart(5_000, " "))
        },
      ]
      // A connection without a request under way may stay.
      const idle = yield* Effect.forkChild(
        exchange((socket) => {
          socket.write(requestText("GET /api/v1/health"))
          setTimeout(() => socket.write(requestText("GET /api/v1/health", { Connection: "close" })), 2_500)
        }),
      )
      const all = yield* Effect.forEach(slowly, (bytes) => exchange(bytes), { concurrency: "unbounded" })
      for (const received of all) assertRefused(received, 408)
      yield* exchange("")
      assert.notMatch(JSON.stringify(yield* itemsOf("/api/v1/agents")), /too-late/)
      assert.deepStrictEqual(statusesOf(yield* Fiber.join(idle)), [200, 200])
      assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
    }),
  )
}
