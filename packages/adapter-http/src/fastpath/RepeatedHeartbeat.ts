import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"

const TIME = "observed_at"
const BEFORE_TIME = `"${TIME}":"`
const QUOTE = 0x22
const BACKSLASH = 0x5c
const MOST_BYTES = 2_048
/** A sender whose heartbeats differ in more than their time is not compared forever. */
const TRIES = 8

interface Known {
  readonly body: Buffer
  readonly start: number
  readonly end: number
  readonly request: HeartbeatRequest
}

/** The last heartbeat of a sender. The next one is usually the same but for its time, which is then all that is read. */
export class RepeatedHeartbeat {
  #known: Known | undefined
  #triesLeft = TRIES

  /** A heartbeat that repeats the last one; `undefined` for any other body. */
  read(body: Buffer): HeartbeatRequest | undefined {
    if (this.#known?.body.length !== body.length) return undefined
    const { body: known, end, request, start } = this.#known
    if (known.compare(body, 0, start, 0, start) !== 0) return undefined
    if (known.compare(body, end, body.length, end, body.length) !== 0) return undefined
    const observed_at = Instant.parse(body.toString("latin1", start, end))
    if (observed_at === undefined) return undefined
    this.#triesLeft = TRIES
    return { ...request, observed_at }
  }

  /** Remembers a heartbeat, unless more than its time may have the name of it: then the bytes do not say which one it is. */
  learn(body: Buffer, request: HeartbeatRequest): void {
    if (this.#triesLeft === 0 || body.length > MOST_BYTES) return
    this.#triesLeft -= 1
    const at = body.indexOf(TIME) - 1
    const start = at + BEFORE_TIME.length
    const isClear =
      body.toString("latin1", at, start) === BEFORE_TIME &&
      body.indexOf(TIME, start) < 0 &&
      !body.includes(BACKSLASH)
    // A copy: a part of what was read would keep all of it in memory.
    if (isClear) this.#known = { body: Buffer.from(body), start, end: body.indexOf(QUOTE, start), request }
  }
}
