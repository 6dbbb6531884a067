import type { Sender } from "../handlers/AgentHandlers.ts"
import type { AgentHead } from "./agentMessages.ts"
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

/** The sender of an earlier request, and the header fields that named it. */
export interface KnownSender extends Sender {
  readonly authorization: string | undefined
  readonly forwardedFor: string | undefined
}

/** The head of an earlier request of a connection: the next one is usually the same byte for byte. */
export interface KnownHead {
  readonly bytes: Buffer
  readonly head: AgentHead
  readonly sender: KnownSender
  /** The ID that it gives to each of its requests, if it has one. */
  readonly requestId: string | undefined
  readonly heartbeat: RepeatedHeartbeat
}

export const HEAD_END = Buffer.from("\r\n\r\n")
const MOST_HEAD_BYTES = 8_192
/** A proxy sends the requests of many agents on one connection: as many heads as have these bytes. */
const MOST_KNOWN_BYTES = MOST_HEAD_BYTES

/** Where the head of a request ends; negative if it is not whole, or too long. */
export const endOfHead = (bytes: Buffer): number => {
  const end = bytes.indexOf(HEAD_END)
  return end > MOST_HEAD_BYTES ? -1 : end < 0 ? end : end + HEAD_END.length
}

/** The last heads of a connection. */
export class KnownHeads {
  /** By their text, the last learned last. */
  readonly #heads = new Map<string, KnownHead>()
  #latest: KnownHead | undefined
  #bytes = 0

  get isEmpty(): boolean {
    return this.#latest === undefined
  }

  /** The head that a read begins with, if it is known. */
  find(bytes: Buffer): KnownHead | undefined {
    const latest = this.#latest
    if (latest === undefined) return undefined
    const { length } = latest.bytes
    if (length <= bytes.length && latest.bytes.compare(bytes, 0, length) === 0) return latest
    const end = this.#heads.size > 1 ? endOfHead(bytes) : -1
    const known = end < 0 ? undefined : this.#heads.get(bytes.toString("latin1", 0, end))
    if (known !== undefined) this.#latest = known
    return known
  }

  /** The sender that these header fields name, if a known head has the same. */
  senderOf(authorization: string | undefined, forwardedFor: string | undefined): KnownSender | undefined {
    for (const { sender } of this.#heads.values())
      if (sender.authorization === authorization && sender.forwardedFor === forwardedFor) return sender
    return undefined
  }

  /** Remembers a head that was not known, for as long as there is room for it. */
  remember(known: KnownHead): void {
    if (this.#latest === known) return
    this.#latest = known
    this.#heads.set(known.bytes.toString("latin1"), known)
    this.#bytes += known.bytes.length
    for (const [text, { bytes }] of this.#heads) {
      if (this.#bytes <= MOST_KNOWN_BYTES || this.#heads.size === 1) return
      this.#heads.delete(text)
      this.#bytes -= bytes.length
    }
  }

  /** The head of a request that is not known yet. */
  static of(
    bytes: Buffer,
    {
      end,
      head,
      requestId,
      sender,
    }: Pick<KnownHead, "head" | "requestId" | "sender"> & { readonly end: number },
  ): KnownHead {
    // A copy: a part of what was read would keep all of it in memory.
    return {
      bytes: Buffer.from(bytes.subarray(0, end)),
      head,
      sender,
      requestId,
      heartbeat: new RepeatedHeartbeat(),
    }
  }
}
