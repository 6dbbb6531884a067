import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { Server } from "node:http"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../client/call.ts"
import { Tocsin } from "./Tocsin.ts"

const STARTED = "http.server.request.start"

const listensOn = (server: Server, port: number): boolean => {
  const address = server.address()
  return typeof address === "object" && address?.port === port
}

/** Node's server behind the service: it is found when it takes a request. */
export const nodeServer = Effect.gen(function* () {
  const { port } = yield* Tocsin
  let found: Server | undefined
  const note = (message: unknown): void => {
    const server: unknown =
      typeof message === "object" && message !== null && "server" in message && message.server
    if (server instanceof Server && listensOn(server, port)) found = server
  }
  yield* Effect.acquireUseRelease(
    Effect.sync(() => subscribe(STARTED, note)),
    () => call("GET", "/api/v1/health"),
    () => Effect.sync(() => unsubscribe(STARTED, note)),
  )
  return found ?? assert.fail("no server was found")
})
