import type { Socket } from "node:net"

const HEAD_END = Buffer.from("\r\n\r\n")

/** As many as a pause may let pass. */
const MOST_HEADS = 16

/** Bytes in parts with few requests each. */
export const partsOf = (bytes: Buffer): ReadonlyArray<Buffer> => {
  const parts = []
  let start = 0
  let heads = 0
  for (let at = bytes.indexOf(HEAD_END); at >= 0; at = bytes.indexOf(HEAD_END, at + HEAD_END.length)) {
    heads += 1
    if (heads % MOST_HEADS > 0) continue
    parts.push(bytes.subarray(start, at + HEAD_END.length))
    start = at + HEAD_END.length
  }
  return start < bytes.length ? [...parts, bytes.subarray(start)] : parts
}

/**
 * Has node:http read a connection in parts. It makes all requests of a read, up to 64 KiB, although the socket is
 * paused meanwhile: thousands of short ones, which take 3 KiB of memory each.
 */
export const readInParts = (socket: Socket): void => {
  const push = socket.push.bind(socket)
  socket.push = (bytes: Buffer | null) =>
    bytes === null ? push(null) : partsOf(bytes).reduce((_, part) => push(part), true)
  // Otherwise node:http takes what the system reads directly.
  socket.on("data", () => {})
}
