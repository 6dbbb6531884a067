import type { ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"

interface Waiting {
  requests: number
  /** The bytes read from the connection before the first of them came. */
  readonly bytesBefore: number
  isPaused: boolean
}

/** Properties, because a weak map costs more. */
const LATEST: unique symbol = Symbol("latest")
const WAITING: unique symbol = Symbol("waiting")
interface Answering extends Duplex {
  /** The answer to the last request that has come. */
  [LATEST]?: ServerResponse
}
interface Connection extends Socket {
  [LATEST]?: ServerResponse
  [WAITING]?: Waiting | undefined
}

/** The answer to the last request that has come on a connection. */
export const latestAnswer = (connection: Answering): ServerResponse | undefined => connection[LATEST]

/** Before that, even if all of it is written, it still has the connection. */
const isSent = ({ socket, writableFinished }: ServerResponse): boolean => socket === null && writableFinished

/** node:http resumes a socket after each whole request, which has effect on what is pushed next. */
function stayPaused(this: Socket): Socket {
  return this
}

/**
 * After so much, nothing more is read behind an answer. It is read at all so that the end of a
 * connection is noticed during a long answer, such as a stream.
 */
const MOST_BYTES = 65_536

/** Nor behind so many requests, which take more memory than their bytes. */
const MOST_REQUESTS = 16

const wait = (connection: Connection): void => {
  const bytesBefore = connection.bytesRead
  const waiting = (connection[WAITING] ??= { requests: 0, bytesBefore, isPaused: false })
  waiting.requests += 1
  const isFull = waiting.requests >= MOST_REQUESTS || connection.bytesRead - waiting.bytesBefore >= MOST_BYTES
  if (waiting.isPaused || !isFull) return
  waiting.isPaused = true
  connection.pause().resume = stayPaused
}

const stopWaiting = (connection: Connection): void => {
  const waiting = connection[WAITING]
  if (waiting === undefined) return
  waiting.requests -= 1
  if (waiting.requests > 0) return
  connection[WAITING] = undefined
  if (!waiting.isPaused) return
  connection.resume = Socket.prototype.resume
  connection.resume()
}

/**
 * Handles a request once the answers before its own are sent, so that a connection holds one answer
 * at most. Node parses all requests of a read, and would keep their answers behind one that the client
 * does not read. Requests behind the last answer of a connection are dropped.
 */
export const pipelining = (connection: Connection, response: ServerResponse, handle: () => void): void => {
  const before = connection[LATEST]
  connection[LATEST] = response
  if (response.socket !== null || before === undefined || isSent(before)) return handle()
  wait(connection)
  before.once("finish", () => {
    stopWaiting(connection)
    if (connection.writable) handle()
  })
}

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

/** Sixteen of the longest lists. It keeps slow clients from filling the memory. */
const MOST_UNREAD_BYTES = 64 * 1_048_576

/** Smaller answers are bounded by the number of connections, and are not counted. */
const COUNTED_BYTES = 65_536

/**
 * Answers that their clients have not read yet. Beyond a total of bytes, the connection that has
 * waited longest is closed.
 */
export class UnreadAnswers {
  readonly #mostBytes: number
  #held = 0
  // Oldest first.
  readonly #unread = new Map<ServerResponse, number>()

  constructor(mostBytes = MOST_UNREAD_BYTES) {
    this.#mostBytes = mostBytes
  }

  get bytes(): number {
    return this.#held
  }

  watch(response: ServerResponse): void {
    response.once("prefinish", () => {
      if (response.writableLength >= COUNTED_BYTES) this.#hold(response)
    })
  }

  #hold(response: ServerResponse): void {
    const bytes = response.writableLength
    const release = () => this.#release(response)
    this.#unread.set(response, bytes)
    this.#held += bytes
    response.once("finish", release)
    response.once("close", release)
    for (const [oldest] of this.#unread) {
      if (this.#held <= this.#mostBytes || oldest === response) return
      this.#release(oldest)
      oldest.destroy()
    }
  }

  #release(response: ServerResponse): void {
    this.#held -= this.#unread.get(response) ?? 0
    this.#unread.delete(response)
  }
}
