import type { Socket } from "node:net"
import type { Visit } from "@tocsin/core/usecases/BodyBudget"
import { type Fiber, Result } from "effect"
import { clientAddress } from "../request/clientAddress.ts"
import type { Sender } from "../handlers/agentCalls.ts"
import { partsOf } from "../response/pipelining.ts"
import { inboundRequestId } from "../response/headerFields.ts"
import { type AgentRequest, type FrontServices, startWork } from "./agentWork.ts"
import { type AgentAnswer, answerText, type AgentHead, type PageHead, parseHead } from "./agentMessages.ts"
import { type PageAnswer, pageHeadText, type PageRequest, startPage } from "./pageWork.ts"

export interface ConnectionHost {
  readonly services: FrontServices
  /** How long a connection may take to its first request. */
  readonly firstMillis: () => number
  /** How long it may take from an answer to the next request. */
  readonly idleMillis: number
  /** The same as answers state it. */
  readonly keepAliveSeconds: number
  /**
   * Gives a connection to node:http, with everything that it has not answered. `remainingMillis` is
   * what is left of the time to its first request, if that has not come.
   */
  readonly handOver: (socket: Socket, remainingMillis: number | undefined) => void
  readonly onArrival: () => void
  /** Refuses a connection on which nothing came. */
  readonly refuseSlow: (socket: Socket) => void
  /** Has a connection flushed at the end of this turn of the event loop. */
  readonly flushSoon: (connection: AgentConnection) => void
  /** The server need not end the connection any more. */
  readonly forget: () => void
}

/** The head of an earlier request of a connection: the next one is usually the same byte for byte. */
type KnownHead = { readonly bytes: Buffer } & (
  | { readonly head: AgentHead; readonly sender: KnownSender }
  | { readonly head: PageHead; readonly sender: undefined }
)

/** The sender of an earlier request, and the header fields that named it. */
interface KnownSender extends Sender {
  readonly authorization: string | undefined
  readonly forwardedFor: string | undefined
}

const HEAD_END = Buffer.from("\r\n\r\n")
const MOST_HEAD_BYTES = 8_192
/** A proxy sends the requests of many agents on one connection: as many heads as have these bytes. */
const MOST_KNOWN_BYTES = MOST_HEAD_BYTES

/**
 * A connection on which each read so far has brought one whole usual request of an agent, or for a public page, and
 * nothing else. It is parsed, done and answered here, for a third of the cost of
 * node:http. The first read that brings anything else is put back, and the connection is node:http's from then on
 * (docs/decisions/0018).
 */
export class AgentConnection {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  /** The last learned first. */
  readonly #known: Array<KnownHead> = []
  #knownBytes = 0
  #request: AgentRequest | PageRequest | undefined
  /** The room that the body of the request takes until its answer. */
  #inside: { readonly bytes: number; readonly visit: Visit } | undefined
  #work: Fiber.Fiber<unknown> | undefined
  #answer: AgentAnswer | PageAnswer | undefined
  /** Whether the next request, or a client that reads slowly, has paused the socket. */
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

  get work(): Fiber.Fiber<unknown> | undefined {
    return this.#work
  }

  /** Closes the connection unless it has a request, or is about to be handed over. */
  closeIfIdle(): void {
    if (this.#request === undefined && !this.#isLeaving) this.#socket.destroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  flush(): void {
    const answer = this.#answer
    const request = this.#request
    if (answer === undefined || request === undefined) return
    this.#answer = undefined
    this.#request = undefined
    if (!this.#socket.writable) return
    const { services, keepAliveSeconds } = this.#host
    const { requestId } = request
    const isFinal = services.isDraining()
    const millis = services.clock.currentTimeMillisUnsafe()
    const circumstances = { requestId, isFinal, millis, keepAliveSeconds }
    const isTaken =
      "before" in answer
        ? this.#writePage(answer, pageHeadText(answer, circumstances), request.head.method)
        : this.#socket.write(answerText(answer, circumstances))
    if (isFinal) this.#socket.destroySoon()
    else if (!isTaken) this.#waitForDrain()
    else if (this.#isHeldBack) this.#readOn()
  }

  /** The bytes of a page are shared by all clients, even by slow ones. */
  #writePage({ bytes }: PageAnswer, head: string, method: string): boolean {
    const socket = this.#socket
    if (bytes === undefined || method === "HEAD") return socket.write(head, "latin1")
    socket.cork()
    socket.write(head, "latin1")
    const isTaken = socket.write(bytes)
    socket.uncork()
    return isTaken
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
    if (this.#request !== undefined) return this.#holdBack(bytes)
    const known = this.#knownHeadOf(bytes) ?? this.#newHeadOf(bytes)
    const isWhole = bytes.length === (known?.bytes.length ?? 0) + (known?.head.bodyLength ?? 0)
    if (known === undefined || !isWhole || !this.#enter(known)) return this.#handOver(bytes)
    if (this.#known.length === 0) this.#socket.setTimeout(this.#host.idleMillis)
    if (!this.#known.includes(known)) this.#remember(known)
    if (known.sender === undefined) this.#beginPage(known.head, bytes)
    else this.#begin(known.head, known.sender, bytes.subarray(known.bytes.length))
  }

  /** Asks whether the body of a request, which has arrived, may be taken in. */
  #enter({ head, sender }: KnownHead): boolean {
    const { bodies, intake, now } = this.#host.services
    if (sender === undefined) return true
    const bytes = head.bodyLength
    if (!intake.takeWhole(bytes)) return false
    const visit = bodies.tryEnter({ ...sender, bytes }, now)
    if (visit === undefined) intake.leaveWhole(bytes)
    else this.#inside = { bytes, visit }
    return visit !== undefined
  }

  #requestIdOf({ headers }: AgentHead | PageHead): string {
    return inboundRequestId(headers["x-request-id"]?.toString()) ?? this.#host.services.newRequestId()
  }

  #begin(head: AgentHead, sender: KnownSender, body: Uint8Array): void {
    const requestId = this.#requestIdOf(head)
    const request = { head, body, sender, requestId, peer: this.#socket.remoteAddress }
    this.#request = request
    this.#follow(startWork(this.#host.services, request, this.#onAnswer))
  }

  #beginPage(head: PageHead, bytes: Buffer): void {
    const { pages } = this.#host.services
    // The routes answer that there is no page, or none yet.
    if (pages?.service.isBuilt(head.name) !== true) return this.#handOver(bytes)
    const request = { head, requestId: this.#requestIdOf(head) }
    this.#request = request
    const fiber = startPage(pages, request, (answer) => {
      if (answer !== undefined) return this.#onAnswer(answer)
      this.#handOver(bytes)
      return false
    })
    if (fiber !== undefined) this.#follow(fiber)
  }

  #follow(fiber: Fiber.Fiber<unknown>): void {
    if (fiber.pollUnsafe() !== undefined) return
    this.#work = fiber
    fiber.addObserver((exit) => {
      // Once answered, it may still end after the next request has begun.
      if (this.#work === fiber) this.#work = undefined
      if (this.#socket.destroyed) this.#host.forget()
      // Interrupted: the server stops and has waited long enough.
      else if (exit._tag === "Failure") this.#socket.destroy()
    })
  }

  readonly #onAnswer = (answer: AgentAnswer | PageAnswer): boolean => {
    this.#leave()
    if (this.#socket.destroyed) return false
    this.#answer = answer
    this.#host.flushSoon(this)
    return true
  }

  #knownHeadOf(bytes: Buffer): KnownHead | undefined {
    return this.#known.find(
      (known) =>
        known.bytes.length <= bytes.length && known.bytes.compare(bytes, 0, known.bytes.length) === 0,
    )
  }

  #remember(known: KnownHead): void {
    this.#known.unshift(known)
    this.#knownBytes += known.bytes.length
    while (this.#knownBytes > MOST_KNOWN_BYTES && this.#known.length > 1)
      this.#knownBytes -= this.#known.pop()?.bytes.length ?? 0
  }

  #newHeadOf(bytes: Buffer): KnownHead | undefined {
    const end = bytes.indexOf(HEAD_END)
    const head = end < 0 || end > MOST_HEAD_BYTES ? undefined : parseHead(bytes.toString("latin1", 0, end))
    if (head === undefined) return undefined
    // A copy: a part of what was read would keep all of it in memory.
    const copy = Buffer.from(bytes.subarray(0, end + HEAD_END.length))
    if (head.to === "page") return { head, sender: undefined, bytes: copy }
    const sender = this.#senderOf(head)
    return sender && { head, sender, bytes: copy }
  }

  /** The sender of a request. Most connections have few senders, and recognising them is expensive. */
  #senderOf(head: AgentHead): KnownSender | undefined {
    const { access, trustedHops } = this.#host.services
    const { authorization } = head.headers
    const forwardedFor = head.headers["x-forwarded-for"]?.toString()
    const known = this.#known.find(
      ({ sender }) => sender?.authorization === authorization && sender?.forwardedFor === forwardedFor,
    )
    if (known?.sender !== undefined) return known.sender
    const key = access.agent(authorization)
    if (Result.isFailure(key)) return undefined
    const address = clientAddress({ peer: this.#socket.remoteAddress, forwardedFor }, trustedHops)
    return { address, authorization, forwardedFor, key: key.success }
  }

  #holdBack(bytes: Buffer): void {
    this.#isHeldBack = true
    this.#socket.pause()
    this.#socket.unshift(bytes)
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket
    const firstMillis = this.#known.length === 0 ? this.#host.firstMillis() : undefined
    this.#isLeaving = true
    socket.off("data", this.#onData).off("end", this.#onEnd).off("timeout", this.#onTimeout)
    socket.setTimeout(0)
    socket.pause()
    for (const part of partsOf(bytes).toReversed()) socket.unshift(part)
    // Later, because a stream that has just been read reads on, even if it is paused meanwhile.
    setImmediate(() => {
      if (socket.destroyed) return
      this.#host.forget()
      socket.off("close", this.#onClose).off("error", this.#onError)
      const usedMillis = performance.now() - this.#openedAt
      this.#host.handOver(socket, firstMillis && Math.max(1, firstMillis - usedMillis))
      socket.resume()
    })
  }

  /** The client sends no more. As with node:http, it gets only an answer that is ready. */
  readonly #onEnd = (): void => {
    this.flush()
    this.#socket.end()
  }

  readonly #onTimeout = (): void => {
    if (this.#request !== undefined) return
    if (this.#known.length === 0) this.#host.refuseSlow(this.#socket)
    else this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#leave()
    if (this.#work === undefined) this.#host.forget()
    else this.#work.interruptUnsafe()
  }

  /** "close" follows. */
  readonly #onError = (): void => {}

  #leave(): void {
    if (this.#inside === undefined) return
    this.#host.services.intake.leaveWhole(this.#inside.bytes)
    this.#inside.visit.leave()
    this.#inside = undefined
  }
}
