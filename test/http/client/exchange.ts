import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { Tocsin } from "../service/Tocsin.ts"

/** The bytes received on a connection until it closed. */
export interface Received {
  /** All bytes, as latin1. */
  readonly text: string
  /** From the first byte written until the end of the connection. */
  readonly millis: number
  /** Whether the server reset the connection instead of closing it. */
  readonly wasReset: boolean
}

/** Writes bytes on a new connection and reads until the server closes it. */
export const exchange = Effect.fnUntraced(function* (
  write: string | Uint8Array | ((socket: Socket) => void),
) {
  const { port, clock, observatory } = yield* Tocsin
  clock.advance("1 millis")
  const received = yield* Effect.callback<Received>((resume) => {
    const start = performance.now()
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
    socket.on("close", () => resume(Effect.succeed({ text, millis: performance.now() - start, wasReset })))
    return Effect.sync(() => socket.destroy())
  })
  observatory.note("answer", received.text)
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
