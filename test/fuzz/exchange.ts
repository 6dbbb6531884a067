import { connect } from "node:net"

/** All that came back on a connection. */
export interface Exchanged {
  /** In latin1. */
  readonly text: string
  /** Whether the server ended the connection: otherwise it waited for more until the client did. */
  readonly isEndedByServer: boolean
  /** Whether the connection was reset, so that bytes on their way may be lost. */
  readonly wasReset: boolean
  /** Whether nothing listens there any more. */
  readonly isRefused: boolean
  /** Whether the connection stayed open after the client had ended its side. */
  readonly hangs: boolean
}

/** So long may a server take to close a connection that its client has ended. */
const HANG_MILLIS = 15_000

/** How long a server may be silent until it is taken to wait for more. */
export interface Silence {
  readonly beforeMillis: number
  /** After the first byte of an answer. */
  readonly afterMillis: number
}

/**
 * Sends texts on a connection of its own, one write each, and reads until it is closed. A client that
 * a server keeps waiting ends its side.
 */
export const exchange = (
  port: number,
  writes: ReadonlyArray<string>,
  { beforeMillis, afterMillis }: Silence,
): Promise<Exchanged> =>
  new Promise((resolve) => {
    let text = ""
    let isEndedByServer = true
    let isRefused = false
    let wasReset = false
    let hangs = false
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true })
    socket.setEncoding("latin1")
    const limit = setTimeout(() => {
      hangs = true
      socket.destroy()
    }, HANG_MILLIS)
    const stop = (): void => {
      isEndedByServer = false
      socket.end()
    }
    let quiet = setTimeout(stop, beforeMillis)
    const left = [...writes]
    const writeNext = (): void => {
      const next = left.shift()
      if (next === undefined || !socket.writable) return
      quiet.refresh()
      socket.write(next, "latin1", () => setImmediate(writeNext))
    }
    socket.on("connect", writeNext)
    socket.on("data", (part) => {
      text += String(part)
      clearTimeout(quiet)
      quiet = setTimeout(stop, afterMillis)
    })
    socket.on("end", () => socket.destroy())
    socket.on("error", (error) => {
      isRefused ||= "code" in error && error.code === "ECONNREFUSED"
      wasReset = true
    })
    socket.on("close", () => {
      clearTimeout(limit)
      clearTimeout(quiet)
      resolve({ text, isEndedByServer, wasReset, isRefused, hangs })
    })
  })
