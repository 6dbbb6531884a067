import type { Socket } from "node:net"
import type { Visit } from "@tocsin/core/admission/BodyAdmission"
import { answerText } from "./answerText.ts"
import { type Asker, AgentWork } from "./AgentWork.ts"
import type { Burst, Flushed } from "./Burst.ts"
import { type DirectAnswer, writtenAnswer } from "./DirectAnswer.ts"
import { type ParsedHead, parseHead } from "./parseHead.ts"
import type { Surroundings } from "./Surroundings.ts"
import { type UsualRequest, usualRequest } from "./usualRequest.ts"

/** The server that a connection belongs to. */
export interface ConnectionHost {
  readonly around: Surroundings
  readonly burst: Burst
  /** How long a connection may take to its first request. */
  readonly firstMillis: () => number
  /** And from an answer to the next one. */
  readonly idleMillis: number
  /** What answers tell of it. */
  readonly keepAliveSeconds: number
  /**
   * Gives a connection to node:http, which reads on from where nothing of it has been taken. `remainingMillis`: what is left
   * of the time to its first request, if that has not come.
   */
  readonly handOver: (socket: Socket, remainingMillis: number | undefined) => void
  /** Takes note of bytes that came. */
  readonly onArrival: () => void
  /** Refuses a connection on which nothing came. */
  readonly refuseSlow: (socket: Socket) => void
  readonly forget: (connection: AgentConnection) => void
}

/** The head of the last request of a connection: the next one is mostly the same, byte for byte. */
interface KnownHead {
  readonly bytes: Buffer
  readonly head: ParsedHead
  readonly usual: UsualRequest
}

const HEAD_END = Buffer.from("\r\n\r\n")
const MOST_HEAD_BYTES = 8_192

/**
 * A connection of which each read so far has brought one whole usual request of an agent, and nothing else. It is parsed,
 * done and answered here, for a third of what node:http takes; the first read that brought anything else is given back, and
 * the connection is node:http's from then on (docs/decisions/0005).
 */
export class AgentConnection implements Asker, Flushed {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  #known: KnownHead | undefined
  #work: AgentWork | undefined
  #answer: { readonly answer: DirectAnswer; readonly requestId: string } | undefined
  /** The body that is taken in: its bytes, whose place in the intake is held. */
  #inside: { readonly bytes: number; readonly visit: Visit } | undefined
  /** What came while a request was at work waits for its end. */
  #isHeldBack = false
  #isLeaving = false
  readonly #openedAt = performance.now()

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket
    this.#host = host
    socket.setTimeout(host.firstMillis())
    socket.on("data", this.#onData).on("end", this.#onEnd).on("timeout", this.#onTimeout)
    socket.on("close", this.#onClose).on("error", this.#onError)
  }

  /** Closes the connection unless a request is at work, or arriving. */
  closeIfIdle(): void {
    if (this.#work === undefined && !this.#isLeaving) this.#socket.destroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  answer(answer: DirectAnswer, requestId: string): boolean {
    this.#leave()
    if (this.#socket.destroyed) return false
    this.#answer = { answer, requestId }
    this.#host.burst.add(this)
    return true
  }

  giveUp(): void {
    this.#socket.destroy()
  }

  /** Writes the answer that waits, if one does. */
  flush(): void {
    if (this.#answer === undefined) return
    const { answer, requestId } = this.#answer
    this.#answer = undefined
    this.#work = undefined
    if (!this.#socket.writable) return
    const { around, keepAliveSeconds } = this.#host
    const isDraining = around.isDraining()
    const written = writtenAnswer(answer, { requestId, isDraining })
    const millis = around.clock.currentTimeMillisUnsafe()
    const isTaken = this.#socket.write(answerText(written, { millis, keepAliveSeconds }))
    if (isDraining) this.#socket.destroySoon()
    else if (!isTaken) this.#waitForDrain()
    else if (this.#isHeldBack) this.#readOn()
  }

  /** A client that does not read its answers is not read either. */
  #waitForDrain(): void {
    this.#isHeldBack = true
    this.#socket.pause()
    this.#socket.once("drain", () => this.#readOn())
  }

  #readOn(): void {
    this.#isHeldBack = false
    this.#socket.resume()
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#host.onArrival()
    if (this.#work !== undefined) return this.#holdBack(bytes)
    const known = this.#knownHeadOf(bytes) ?? this.#newHeadOf(bytes)
    const isWhole = bytes.length === (known?.bytes.length ?? 0) + (known?.head.bodyLength ?? 0)
    if (known === undefined || !isWhole || !this.#enter(known)) return this.#handOver(bytes)
    if (this.#known === undefined) this.#socket.setTimeout(this.#host.idleMillis)
    this.#known = known
    const { around } = this.#host
    const work = new AgentWork(around, known.usual, around.requestIdOf(known.head), this)
    this.#work = work
    work.begin(bytes.subarray(known.bytes.length))
  }

  /** Asks whether the body of a request that is there may be taken in. */
  #enter({ head, usual }: KnownHead): boolean {
    const { bodies, intake, now } = this.#host.around
    const bytes = head.bodyLength
    if (!intake.takeWhole(bytes)) return false
    const visit = bodies.tryEnter({ ...usual.sender, bytes }, now)
    if (visit === undefined) intake.leaveWhole(bytes)
    else this.#inside = { bytes, visit }
    return visit !== undefined
  }

  #knownHeadOf(bytes: Buffer): KnownHead | undefined {
    const known = this.#known
    if (known === undefined || bytes.length < known.bytes.length) return undefined
    return known.bytes.compare(bytes, 0, known.bytes.length) === 0 ? known : undefined
  }

  #newHeadOf(bytes: Buffer): KnownHead | undefined {
    const end = bytes.indexOf(HEAD_END)
    const head = end < 0 || end > MOST_HEAD_BYTES ? undefined : parseHead(bytes.toString("latin1", 0, end))
    const { senderOf } = this.#host.around
    const usual = head && usualRequest({ ...head, socket: this.#socket }, senderOf)
    // A copy, because what is read is kept as a whole as long as a part of it is.
    return head && usual && { head, usual, bytes: Buffer.from(bytes.subarray(0, end + HEAD_END.length)) }
  }

  #holdBack(bytes: Buffer): void {
    this.#isHeldBack = true
    this.#socket.pause()
    this.#socket.unshift(bytes)
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket
    const firstMillis = this.#known === undefined ? this.#host.firstMillis() : undefined
    this.#isLeaving = true
    socket.off("data", this.#onData).off("end", this.#onEnd).off("timeout", this.#onTimeout)
    socket.setTimeout(0)
    socket.pause()
    socket.unshift(bytes)
    // Later, because a stream that has just been read goes on reading, whatever is paused meanwhile.
    setImmediate(() => {
      if (socket.destroyed) return
      this.#host.forget(this)
      socket.off("close", this.#onClose).off("error", this.#onError)
      const usedMillis = performance.now() - this.#openedAt
      this.#host.handOver(socket, firstMillis && Math.max(1, firstMillis - usedMillis))
      socket.resume()
    })
  }

  /** The client sends no more. As with node:http, it gets no answer that is not there yet. */
  readonly #onEnd = (): void => {
    this.flush()
    this.#socket.end()
  }

  readonly #onTimeout = (): void => {
    if (this.#work !== undefined) return
    if (this.#known === undefined) this.#host.refuseSlow(this.#socket)
    else this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#host.forget(this)
    this.#leave()
    this.#work?.interrupt()
  }

  /** The connection closes by itself. */
  readonly #onError = (): void => {}

  #leave(): void {
    if (this.#inside === undefined) return
    this.#host.around.intake.leaveWhole(this.#inside.bytes)
    this.#inside.visit.leave()
    this.#inside = undefined
  }
}
