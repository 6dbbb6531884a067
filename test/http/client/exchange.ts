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

const TICK_MILLIS = 100
/**
 * Far more than the end of a connection takes, and less than the 10 s after which Node.js would end it
 * without us. Ticks that a busy machine leaves out do not count.
 */
const SOONER_THAN_NODE_TICKS = 90

/** Writes bytes on a new connection and reads until the server closes it, which it does in time. */
export const exchange = Effect.fnUntraced(function* (
  write: string | Uint8Array | ((socket: Socket) => void),
) {
  const { port, clock, observatory } = yield* Tocsin
  clock.advance("1 millis")
  let ticks = 0
  const timer = setInterval(() => void (ticks += 1), TICK_MILLIS)
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
  }).pipe(Effect.ensuring(Effect.sync(() => clearInterval(timer))))
  observatory.note("answer", received.text)
  assert.isBelow(ticks, SOONER_THAN_NODE_TICKS)
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
