import type { IncomingMessage, ServerResponse } from "node:http"
import { Cause, type Clock, type Effect, type Exit, Fiber, Option, Result, type Scope } from "effect"
import type { AgentCalls, Sender } from "../handlers/agentCalls.ts"
import type { Intake, Place } from "../request/Intake.ts"
import { joined, parseJson } from "../request/RequestBody.ts"
import type { Failure } from "../response/errorResponse.ts"
import { logRequest } from "../response/logRequest.ts"
import { type CoreError, failureOf, logHidden } from "../response/toApiError.ts"
import { logUnforeseen, unforeseen } from "../response/unforeseen.ts"
import type { UsualRequest } from "./usualRequest.ts"
import { type DirectAnswer, writeAnswer } from "./writeAnswer.ts"

/** What all requests of a server need. */
export interface Surroundings {
  readonly calls: AgentCalls
  readonly intake: Intake
  readonly isDraining: () => boolean
  readonly clock: Clock.Clock
  /** Whether each request leaves a line in the log. */
  readonly isLogged: boolean
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** What is still at work when it closes is interrupted. */
  readonly scope: Scope.Scope
}

/** One request of an agent on its way: read, done, answered. */
export class AgentRequest {
  readonly #around: Surroundings
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #usual: UsualRequest
  readonly #requestId: string
  readonly #start: bigint
  readonly #parts: Array<Buffer> = []
  #place: Place | undefined
  #work: Fiber.Fiber<object, CoreError> | undefined

  constructor(around: Surroundings, response: ServerResponse, usual: UsualRequest, requestId: string) {
    this.#around = around
    this.#message = response.req
    this.#response = response
    this.#usual = usual
    this.#requestId = requestId
    this.#start = around.isLogged ? around.clock.currentTimeNanosUnsafe() : 0n
  }

  /** Reads the body as soon as there is room for it, and goes on from there. */
  begin(): void {
    this.#response.on("close", () => this.#end())
    this.#place = this.#around.intake.enter(this.#message, () => {
      this.#message.on("data", (part: Buffer) => this.#parts.push(part))
      this.#message.on("end", () => this.#onBody())
    })
  }

  /** Answered, or the client is gone: then nobody waits for what is still at work. */
  #end(): void {
    this.#leave()
    this.#work?.interruptUnsafe()
  }

  #leave(): void {
    if (this.#place !== undefined) this.#around.intake.leave(this.#place)
  }

  #onBody(): void {
    const body = parseJson(joined(this.#parts))
    if (Result.isFailure(body)) return this.#refuse({ code: "validation", message: body.failure })
    const { calls, run, scope } = this.#around
    const { endpoint, sender } = this.#usual
    const call: (sender: Sender, body: unknown) => Effect.Effect<object, CoreError> = calls[endpoint]
    const work = run(call(sender, body.success))
    const exit = work.pollUnsafe()
    if (exit !== undefined) return this.#onExit(exit)
    this.#work = Fiber.runIn(work, scope)
    work.addObserver((ended) => this.#onExit(ended))
  }

  #onExit(exit: Exit.Exit<object, CoreError>): void {
    this.#work = undefined
    if (exit._tag === "Success") this.#answer({ reply: exit.value })
    else this.#onCause(exit.cause)
  }

  #onCause(cause: Cause.Cause<CoreError>): void {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error !== undefined) {
      this.#around.run(logHidden(error, this.#requestId))
      this.#refuse(failureOf(error))
    } else if (Cause.hasInterruptsOnly(cause)) {
      // The server stops, and has waited long enough; its connections are closed next.
      this.#response.destroy()
    } else {
      this.#around.run(logUnforeseen(cause, this.#requestId))
      this.#refuse(unforeseen)
    }
  }

  #refuse(failure: Failure): void {
    this.#answer({ failure })
  }

  #answer(answer: DirectAnswer): void {
    this.#leave()
    if (this.#response.destroyed) return
    const { isDraining, isLogged, clock, run } = this.#around
    const requestId = this.#requestId
    const status = writeAnswer(this.#response, answer, { requestId, isDraining: isDraining() })
    if (!isLogged) return
    const { method = "", url = "" } = this.#message
    run(logRequest({ method, url, status, nanos: clock.currentTimeNanosUnsafe() - this.#start, requestId }))
  }
}
