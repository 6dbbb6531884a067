import type { Socket } from "node:net"
import type { Visit } from "@tocsin/core/heart/usecases/BodyBudget"
import { type Fiber, Result } from "effect"
import { clientAddress } from "../request/clientAddress.ts"
import { processOf } from "../handlers/AgentHandlers.ts"
import { partsOf } from "../response/pipelining.ts"
import { inboundRequestId } from "../response/headerFields.ts"
import { type AgentRequest, type FrontServices, startWork } from "./agentWork.ts"
import { type AgentAnswer, answerText, type AgentHead, parseHead } from "./agentMessages.ts"
import { endOfHead, HEAD_END, type KnownHead, KnownHeads, type KnownSender } from "./KnownHeads.ts"

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

/**
 * A connection on which each read so far has brought one whole usual request of an agent, and nothing else. It is
 * parsed, done and answered here, for a third of the cost of node:http. The first read that brings anything else is put back, and the connection is node:http's from then on
 * (docs/decisions/0018).
 */
export class AgentConnection {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  readonly #known = new KnownHeads()
  #request: AgentRequest | undefined
  /** The room that the body of the request takes until its answer. */
  #inside: { readonly bytes: number; readonly visit: Visit } | undefined
  #work: Fiber.Fiber<unknown> | undefined
  /** Withdraws work that has no fiber. */
  #withdraw: (() => void) | undefined
  #answer: AgentAnswer | undefined
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

  /** Ends work that has no fiber: the server stops and has waited long enough. */
  endBeat(): void {
    if (this.#withdraw !== undefined) this.#socket.destroy()
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
    const isTaken = this.#socket.write(answerText(answer, circumstances))
    if (isFinal) this.#socket.destroySoon()
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
    if (this.#request !== undefined) return this.#holdBack(bytes)
    const known = this.#known.find(bytes) ?? this.#newHeadOf(bytes)
    const isWhole = bytes.length === (known?.bytes.length ?? 0) + (known?.head.bodyLength ?? 0)
    if (known === undefined || !isWhole || !this.#enter(known)) return this.#handOver(bytes)
    if (this.#known.isEmpty) this.#socket.setTimeout(this.#host.idleMillis)
    this.#known.remember(known)
    this.#begin(known, bytes.subarray(known.bytes.length))
  }

  /** Asks whether the body of a request, which has arrived, may be taken in. */
  #enter({ head, sender }: KnownHead): boolean {
    const { bodies, intake, now } = this.#host.services
    const bytes = head.bodyLength
    if (!intake.takeWhole(bytes)) return false
    const visit = bodies.tryEnter({ ...sender, bytes }, now)
    if (visit === undefined) intake.leaveWhole(bytes)
    else this.#inside = { bytes, visit }
    return visit !== undefined
  }

  #begin({ head, heartbeat, requestId: given, sender }: KnownHead, body: Buffer): void {
    const requestId = given ?? this.#host.services.newRequestId()
    const request = { head, heartbeat, body, sender, requestId, peer: this.#socket.remoteAddress }
    this.#request = request
    let hasEnded = false
    const withdraw = startWork(this.#host.services, request, this.#onAnswer, (rest) => {
      hasEnded = true
      this.#withdraw = undefined
      if (rest !== undefined) this.#follow(rest)
    })
    if (!hasEnded) this.#withdraw = withdraw
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

  readonly #onAnswer = (answer: AgentAnswer): boolean => {
    this.#leave()
    if (this.#socket.destroyed) return false
    this.#answer = answer
    this.#host.flushSoon(this)
    return true
  }

  #newHeadOf(bytes: Buffer): KnownHead | undefined {
    const end = endOfHead(bytes)
    const head = end < 0 ? undefined : parseHead(bytes.toString("latin1", 0, end - HEAD_END.length))
    const sender = head && this.#senderOf(head)
    const requestId = inboundRequestId(head?.headers["x-request-id"]?.toString())
    return head && sender && KnownHeads.of(bytes, { end, head, requestId, sender })
  }

  /** The sender of a request. Most connections have few senders, and recognising them is expensive. */
  #senderOf(head: AgentHead): KnownSender | undefined {
    const { access, trustedHops } = this.#host.services
    const { authorization } = head.headers
    const forwardedFor = head.headers["x-forwarded-for"]?.toString()
    const process = processOf(head.headers)
    const known = this.#known.senderOf(authorization, forwardedFor)
    if (known !== undefined) return { ...known, process }
    const key = access.agent(authorization)
    if (Result.isFailure(key)) return undefined
    const address = clientAddress({ peer: this.#socket.remoteAddress, forwardedFor }, trustedHops)
    return { address, authorization, forwardedFor, key: key.success, process }
  }

  #holdBack(bytes: Buffer): void {
    this.#isHeldBack = true
    this.#socket.pause()
    this.#socket.unshift(bytes)
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket
    const firstMillis = this.#known.isEmpty ? this.#host.firstMillis() : undefined
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
    if (this.#known.isEmpty) this.#host.refuseSlow(this.#socket)
    else this.#socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#leave()
    this.#withdraw?.()
    this.#withdraw = undefined
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
