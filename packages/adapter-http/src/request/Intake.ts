import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { LinkedQueue, type QueueNode } from "@tocsin/core/kernel/engine/LinkedQueue"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { announcedBytes, MAX_BODY_BYTES } from "./RequestBody.ts"

/** How much of the agents' requests a server holds at a time, and how long one may delay others. */
export interface IntakeLimits {
  /** Bytes of bodies, and 4 KiB for each request. */
  readonly bytes: number
  /** How long a body may at least take to arrive while others wait for its place. */
  readonly turnMillis: number
}

/** The rough cost of a request besides its body, which bounds small requests, too. */
const REQUEST_BYTES = 4_096

/** One sender's share of the room: four of the largest bodies. Slow ones beyond it delay no other sender's. */
const SHARES = 8

/** A share has no turns, because its bodies keep their places in the room: the limit on whole requests ends them. */
const NO_TURN_MILLIS = 30_000

// Some 30 bodies of the largest size, or 8,000 heartbeats, at a time.
const defaultLimits: IntakeLimits = { bytes: 32 * MAX_BODY_BYTES, turnMillis: 1_000 }

export const IntakeLimits = Context.Reference<IntakeLimits>("@tocsin/adapter-http/request/IntakeLimits", {
  defaultValue: () => defaultLimits,
})

/** Node reads this much at once, so that a part of a body may arrive with its headers. */
const READ_BYTES = 65_536

/** node:http resumes a socket after a small complete body, but what follows it must wait as well. */
function pauseAgain(this: Socket): void {
  this.pause()
}

export interface Place {
  readonly message: IncomingMessage
  /** Its upper bound: how much of its body is read at most, and the rest. */
  readonly bytes: number
  /** Called once, as soon as its body may be read. */
  readonly onAdmitted: () => void
  /** How much it counts for now. */
  held: number
  readonly bytesReadBefore: number
  turn: number
  wasAdmitted: boolean
  /** Whether it waits; otherwise it is inside. */
  isWaiting: boolean
  /** Where it is among those. */
  position: QueueNode | undefined
}

/**
 * Admits agents' requests while there is room for them. The others wait with their bodies unread:
 * TCP slows their senders down, and none is refused. A body counts in full from its admission until
 * its request is answered.
 *
 * A sender that is slower than its turn while others wait loses its place, keeps what it has sent,
 * and waits behind them. So it delays them by one turn at most. The limit on whole requests ends
 * the slowest.
 */
export class Intake {
  #held = 0
  /** How many of those inside arrived whole. */
  #whole = 0
  #turn = 0
  #timer: NodeJS.Timeout | undefined
  readonly #inside = new LinkedQueue<Place>()
  // In the order of their admission.
  readonly #waiting = new LinkedQueue<Place>()
  /** How many requests wait on each paused connection. */
  readonly #paused = new Map<Socket, number>()
  readonly #limits: IntakeLimits
  /** A part of the room for each sender that has a request. */
  readonly #shares = new Map<string, Intake>()

  constructor(limits: IntakeLimits) {
    this.#limits = limits
  }

  /** Asks for a place for a request with an unread body. Every place must be left by {@link leave}. */
  enter(message: IncomingMessage, onAdmitted: () => void, bytes = announcedBytes(message)): Place {
    const place: Place = {
      message,
      bytes: bytes + REQUEST_BYTES,
      onAdmitted,
      held: 0,
      bytesReadBefore: message.socket.bytesRead,
      turn: 0,
      wasAdmitted: false,
      isWaiting: false,
      position: undefined,
    }
    if (this.#waiting.size === 0 && this.#hasRoomFor(place)) this.#admit(place)
    else this.#wait(place)
    return place
  }

  /** Frees a place: the request is answered, or its client is gone. */
  leave(place: Place): void {
    this.#held -= place.held
    place.held = 0
    place.position?.leave()
    if (place.isWaiting) this.#resume(place.message.socket)
    place.isWaiting = false
    if (this.#waiting.size > 0) this.#admitWaiting()
  }

  /**
   * Admits a request whose body has arrived, if there is room for it and none waits. Its place must
   * be left by {@link leaveWhole}.
   */
  takeWhole(bytes: number): boolean {
    const held = this.#held + bytes + REQUEST_BYTES
    if (this.#waiting.size > 0 || held > this.#limits.bytes) return false
    this.#held = held
    this.#whole += 1
    return true
  }

  leaveWhole(bytes: number): void {
    this.#held -= bytes + REQUEST_BYTES
    this.#whole -= 1
    if (this.#waiting.size > 0) this.#admitWaiting()
  }

  /**
   * Runs the effect of a request from node:http once there is room, in its sender's share too, and holds its place
   * until the end. `bytes` is how much of its body is read at most.
   */
  within<A, E, R>(
    { source }: HttpServerRequest.HttpServerRequest,
    { bytes, sender }: Readonly<{ bytes: number; sender: string }>,
    effect: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E, R> {
    // A body that is too large is refused unread, and need not wait for that.
    if (!(source instanceof IncomingMessage) || bytes > MAX_BODY_BYTES) return effect
    return Effect.suspend(() => {
      const most = this.#limits.bytes / SHARES
      const share = this.#shares.get(sender) ?? new Intake({ bytes: most, turnMillis: NO_TURN_MILLIS })
      this.#shares.set(sender, share)
      const forget = Effect.sync(() => share.#isEmpty && this.#shares.delete(sender))
      return Effect.ensuring(share.#holding(source, bytes, this.#holding(source, bytes, effect)), forget)
    })
  }

  get #isEmpty(): boolean {
    return this.#inside.size + this.#waiting.size === 0
  }

  #holding<A, E, R>(
    source: IncomingMessage,
    bytes: number,
    effect: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let place: Place | undefined
      const admitted = Effect.callback<void>((resume) => {
        place = this.enter(source, () => resume(Effect.void), bytes)
      })
      const leave = Effect.sync(() => place && this.leave(place))
      return Effect.ensuring(Effect.andThen(admitted, effect), leave)
    })
  }

  // The first is admitted when no other is inside, even if the parts of slow senders fill all room.
  #hasRoomFor(place: Place): boolean {
    const isAlone = this.#inside.size === 0 && this.#whole === 0
    return this.#held - place.held + place.bytes <= this.#limits.bytes || isAlone
  }

  #admit(place: Place): void {
    this.#hold(place, place.bytes)
    place.isWaiting = false
    place.position = this.#inside.add(place)
    place.turn = this.#turn
    if (place.wasAdmitted) return
    place.wasAdmitted = true
    place.onAdmitted()
  }

  #admitWaiting(): void {
    for (let place = this.#waiting.first; place !== undefined; place = this.#waiting.first) {
      if (!this.#hasRoomFor(place)) return
      this.#waiting.take()
      this.#resume(place.message.socket)
      this.#admit(place)
    }
  }

  #wait(place: Place): void {
    place.isWaiting = true
    place.position = this.#waiting.add(place)
    this.#pause(place.message.socket)
    this.#startTurn()
  }

  #startTurn(): void {
    if (this.#timer === undefined)
      this.#timer = setTimeout(() => this.#endTurn(), this.#limits.turnMillis).unref()
  }

  #hold(place: Place, bytes: number): void {
    this.#held += bytes - place.held
    place.held = bytes
  }

  /** Moves bodies that have been arriving for a whole turn behind those that wait. */
  #endTurn(): void {
    this.#timer = undefined
    if (this.#waiting.size === 0) return
    for (const place of Array.from(this.#inside)) {
      if (place.turn === this.#turn || place.message.complete) continue
      place.position?.leave()
      const received = place.message.socket.bytesRead - place.bytesReadBefore + READ_BYTES
      this.#hold(place, Math.min(place.bytes, received + REQUEST_BYTES))
      this.#wait(place)
    }
    this.#turn += 1
    this.#admitWaiting()
    if (this.#waiting.size > 0) this.#startTurn()
  }

  #pause(socket: Socket): void {
    const others = this.#paused.get(socket) ?? 0
    this.#paused.set(socket, others + 1)
    if (others === 0) socket.on("resume", pauseAgain)
    socket.pause()
  }

  #resume(socket: Socket): void {
    const others = (this.#paused.get(socket) ?? 1) - 1
    if (others > 0) {
      this.#paused.set(socket, others)
      return
    }
    this.#paused.delete(socket)
    socket.off("resume", pauseAgain)
    socket.resume()
  }
}

/** The {@link Intake} of a server, which the front and the API share. */
export const AgentIntake = Context.Reference<Intake>("@tocsin/adapter-http/request/AgentIntake", {
  defaultValue: () => new Intake(defaultLimits),
})

export const layer: Layer.Layer<never> = Layer.effect(
  AgentIntake,
  Effect.map(IntakeLimits, (limits) => new Intake(limits)),
)
