import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import { releases } from "@tocsin/test/release/releases"
import { Effect, Exit, Layer, Scope } from "effect"
import { agent, heartbeat, operator } from "./http.ts"
import { port, testServer } from "./TestServer.ts"

const fields = (given: Readonly<Record<string, string | number>>): string =>
  Object.entries({ host: "a", ...given })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")
const requestOf = (line: string, given: Readonly<Record<string, string | number>>, body = ""): string =>
  `${line} HTTP/1.1\r\n${fields(given)}\r\n${body}`

const BODY = JSON.stringify(heartbeat)
const JSON_OF = (length: number) => ({ "content-type": "application/json", "content-length": length })
const BEAT = requestOf("POST /api/v1/heartbeat", { ...agent, ...JSON_OF(BODY.length) }, BODY)
const PART = requestOf("POST /api/v1/heartbeat", { ...agent, ...JSON_OF(BODY.length) }, BODY.slice(0, 9))
const READ = requestOf("GET /api/v1/system-summary", operator)
const LIVE = requestOf("GET /api/v1/health", {})
const LAST = requestOf("GET /api/v1/health", { connection: "close" })

it("a server releases what a connection took, however its client ends", () =>
  releases(async () => ({
    open: async () => {
      /** Requests under way, and bodies, that use cases hold. */
      const under = { way: 0, bodies: 0 }
      let onBegun = () => {}
      const endless = Effect.acquireUseRelease(
        Effect.sync(() => {
          under.way += 1
          onBegun()
        }),
        () => Effect.never,
        () => Effect.sync(() => void (under.way -= 1)),
      )
      const enter = () => {
        under.bodies += 1
        const leave = () => void (under.bodies -= 1)
        return { leave, forgive: leave }
      }
      const bodies = {
        tryEnter: enter,
        enterHeartbeat: () => Effect.sync(enter),
        enterEvents: () => Effect.sync(enter),
        enterUnnamed: () => Effect.sync(enter),
      }
      const scope = Scope.makeUnsafe()
      const server = testServer({
        ingest: { heartbeat: () => endless, bodies },
        queries: { summary: endless },
      })
      const services = await Effect.runPromise(Layer.buildWithScope(server, scope))
      const to = await Effect.runPromise(Effect.provide(port, services))
      const opened = async (text: string): Promise<Socket> => {
        const socket = connect(to, "127.0.0.1")
          .on("error", () => {})
          .resume()
        await once(socket, "connect")
        socket.write(text)
        return socket
      }
      /** Closes it once the server works on its request, which has no answer. */
      const closeWithin = async (text: string): Promise<void> => {
        const started = new Promise<void>((resolve) => (onBegun = resolve))
        const socket = await opened(text)
        const answered = once(socket, "data").then((data) => assert.fail(`answered: ${String(data)}`))
        await Promise.race([started, answered])
        socket.destroy()
      }
      /** Closes it once the first part of an answer has come. */
      const closeAfter = async (text: string): Promise<void> => {
        const socket = await opened(text)
        await once(socket, "data")
        socket.destroy()
      }
      return {
        counts: () => ({ ...under }),
        uses: {
          "a heartbeat whose client closes": () => closeWithin(BEAT),
          "a read whose client closes": () => closeWithin(READ),
          "pipelined requests behind one whose client closes": () => closeWithin(READ + LIVE.repeat(20)),
          "an answer": () => closeAfter(LIVE),
          // The server waits for a second for the rest of these, so they are together.
          "a part of a body, and requests behind the last answer": () =>
            Promise.all([
              closeAfter(LIVE + PART),
              opened(PART).then((socket) => socket.end()),
              opened(LAST + LIVE.repeat(3)).then((socket) => once(socket, "close")),
            ]),
          "a connection without a request": async () => void (await opened("")).end(),
        },
        close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
      }
    },
  })))
