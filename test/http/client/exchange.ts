import { connect, type Socket } from "node:net"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Tocsin } from "../service/Tocsin.ts"

/** The bytes received on a connection until it closed. */
export interface Received {
  /** All bytes, as latin1. */
  readonly text: string
  /** Whether the server reset the connection instead of closing it. */
  readonly wasReset: boolean
}

/**
 * Far more than the end of a connection takes on a busy machine, and less than the 10 s after which
 * Node.js would end it without us.
 */
const SOONER_THAN_NODE_MILLIS = 9_000

/** Writes bytes on a new connection and reads until the server closes it, which it does in time. */
export const exchange = Effect.fnUntraced(function* (
  write: string | Uint8Array | ((socket: Socket) => void),
) {
  const { port, clock, observatory } = yield* Tocsin
  clock.advance("1 millis")
  const start = performance.now()
  const received = yield* Effect.callback<Received>((resume) => {
    let text = ""
    let wasReset = false
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => {
      if (typeof write === "function") write(socket)
      else socket.write(write)
    })
    socket.setEncoding("latin1")
    socket.on("data", (part) => {
      text += String(part)
    })
    socket.on("error", (error) => {
      wasReset ||= "code" in error && error.code === "ECONNRESET"
    })
    socket.on("close", () => resume(Effect.succeed({ text, wasReset })))
    return Effect.sync(() => socket.destroy())
  })
  observatory.note("answer", received.text)
  assert.isBelow(performance.now() - start, SOONER_THAN_NODE_MILLIS)
  return received
})

/** The statuses of all responses in a text, in order. */
export const statusesOf = ({ text }: Received): ReadonlyArray<number> =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1]))

/** A request as text, without a body unless there is one. */
export const requestText = (
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): string =>
  [
    `${line} HTTP/1.1`,
    ...Object.entries({ Host: "tocsin", ...headers }).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
  ].join("\r\n")
