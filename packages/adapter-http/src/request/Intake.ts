import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { announcedBytes, MAX_BODY_BYTES } from "./RequestBody.ts"

/** How much of the agents' requests a server holds at a time, and how long one may keep others waiting. */
export interface IntakeLimits {
  /** Bytes of bodies, and 4 KiB for each request. */
  readonly bytes: number
  /** How long a body may take to arrive, at least, once others wait for its place. */
  readonly turnMillis: number
}

/** What a request costs besides its body, roughly: so that many small ones are bounded, too. */
const REQUEST_BYTES = 4_096

// Some 30 bodies of the largest size, or 8,000 heartbeats, at a time.
const defaultLimits: IntakeLimits = { bytes: 32 * MAX_BODY_BYTES, turnMillis: 1_000 }

/** {@link IntakeLimits} of a server. */
export const IntakeLimits = Context.Reference<IntakeLimits>("@tocsin/adapter-http/request/IntakeLimits", {
  defaultValue: () => defaultLimits,
})

/** Node reads so much at once: that of a body may come along with its headers, before anybody can stop it. */
const READ_BYTES = 65_536

/** node:http reads on by itself after a small body that was complete already; what may follow it must wait as well. */
function pauseAgain(this: Socket): void {
  this.pause()
}

/** A request's place among those that are taken in. */
export interface Place {
  readonly message: IncomingMessage
  /** What it may come to: its body, of the length that its headers announce, and the rest. */
  readonly bytes: number
  /** Called once, when its body may be read. */
  readonly onAdmitted: () => void
  /** What it counts for now. */
  held: number
  readonly bytesReadBefore: number
  turn: number
  wasAdmitted: boolean
}

/**
 * Lets agents' requests in as long as there is room for them, and makes the others wait without reading their bodies: the
 * senders are slowed down by TCP, and nobody is refused. A body counts in full from the moment that it may be read, until
 * its request is answered.
 *
 * A sender that is slower than others that wait gives up its place after its turn, keeps what it has sent, and waits
 * behind them. So it costs them no more than a turn; and the slowest are cut off by the limit on whole requests.
 */
export class Intake {
  #held = 0
  /** How many of those inside came whole. */
  #whole = 0
  #turn = 0
  #timer: NodeJS.Timeout | undefined
  readonly #inside = new Set<Place>()
  // In the order in which they are let in.
  readonly #waiting = new Set<Place>()
  /** How many requests wait on each connection that is not read for their sake. */
  readonly #paused = new Map<Socket, number>()
  readonly #limits: IntakeLimits

  constructor(limits: IntakeLimits) {
    this.#limits = limits
  }

  /** Asks for a place for a request whose body has not been read. It must be left, whatever becomes of the request. */
  enter(message: IncomingMessage, onAdmitted: () => void): Place {
    const place: Place = {
      message,
      bytes: announcedBytes(message) + REQUEST_BYTES,
      onAdmitted,
      held: 0,
      bytesReadBefore: message.socket.bytesRead,
      turn: 0,
      wasAdmitted: false,
    }
    if (this.#waiting.size === 0 && this.#hasRoomFor(place)) this.#admit(place)
    else this.#wait(place)
    return place
  }

  /** Gives a place up: the request is answered, or its client is gone. */
  leave(place: Place): void {
    this.#held -= place.held
    place.held = 0
    this.#inside.delete(place)
    if (this.#waiting.delete(place)) this.#resume(place.message.socket)
    if (this.#waiting.size > 0) this.#admitWaiting()
  }

  /**
   * Takes in a request whose body, so many bytes, is there already, if there is room for it and nobody waits. Then it must
   * be left by {@link leaveWhole}.
   */
  takeWhole(bytes: number): boolean {
    const held = this.#held + bytes + REQUEST_BYTES
    if (this.#waiting.size > 0 || held > this.#limits.bytes) return false
    this.#held = held
    this.#whole += 1
    return true
  }

  /** Gives up the place of a request of so many bytes that was taken in whole. */
  leaveWhole(bytes: number): void {
    this.#held -= bytes + REQUEST_BYTES
    this.#whole -= 1
    if (this.#waiting.size > 0) this.#admitWaiting()
  }

  /** Runs the effect of a request that came from node:http when there is room for it, and holds its place until the end. */
  within<A, E, R>(
    { source }: HttpServerRequest.HttpServerRequest,
    effect: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E, R> {
    // What is too large is refused without being read, and need not wait for that.
    if (!(source instanceof IncomingMessage) || announcedBytes(source) > MAX_BODY_BYTES) return effect
    return Effect.suspend(() => {
      let place: Place | undefined
      const admitted = Effect.callback<void>((resume) => {
        place = this.enter(source, () => resume(Effect.void))
      })
      const leave = Effect.sync(() => place && this.leave(place))
      return Effect.ensuring(Effect.andThen(admitted, effect), leave)
    })
  }

  // Whoever waits is let in at last when nobody else is: what slow senders have sent so far may fill everything.
  #hasRoomFor(place: Place): boolean {
    const isAlone = this.#inside.size === 0 && this.#whole === 0
    return this.#held - place.held + place.bytes <= this.#limits.bytes || isAlone
  }

  #admit(place: Place): void {
    this.#hold(place, place.bytes)
    this.#inside.add(place)
    place.turn = this.#turn
    if (place.wasAdmitted) return
    place.wasAdmitted = true
    place.onAdmitted()
  }

  #admitWaiting(): void {
    for (const place of this.#waiting) {
      if (!this.#hasRoomFor(place)) return
      this.#waiting.delete(place)
      this.#resume(place.message.socket)
      this.#admit(place)
    }
  }

  #wait(place: Place): void {
    this.#waiting.add(place)
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

  /** Those whose bodies have been arriving for a whole turn go behind those that wait. */
  #endTurn(): void {
    this.#timer = undefined
    if (this.#waiting.size === 0) return
    for (const place of this.#inside) {
      if (place.turn === this.#turn || place.message.complete) continue
      this.#inside.delete(place)
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

/** The {@link Intake} of a server: all ways that its agents' requests take share the room that there is. */
export const AgentIntake = Context.Reference<Intake>("@tocsin/adapter-http/request/AgentIntake", {
  defaultValue: () => new Intake(defaultLimits),
})

/** Gives a server an {@link Intake} of its own. */
export const layer: Layer.Layer<never> = Layer.effect(
  AgentIntake,
  Effect.map(IntakeLimits, (limits) => new Intake(limits)),
)
