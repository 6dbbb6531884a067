import { Cause, type Effect, type Exit, Fiber, Option, Result } from "effect"
import { agentNamedIn, type Sender } from "../handlers/agentCalls.ts"
import { inTurn, parseJson } from "../request/RequestBody.ts"
import type { Failure } from "../response/errorResponse.ts"
import { logRequest } from "../response/logRequest.ts"
import { type CoreError, failureOf } from "../response/toApiError.ts"
import { unforeseen } from "../response/unforeseen.ts"
import { type DirectAnswer, statusOf } from "./DirectAnswer.ts"
import type { Surroundings } from "./Surroundings.ts"
import type { UsualRequest } from "./usualRequest.ts"

/** Whoever waits for the answer of a request. */
export interface Asker {
  /** Sends the answer. `false` if the client is gone. */
  readonly answer: (answer: DirectAnswer, requestId: string) => boolean
  /** Ends the connection: the server stops, and has waited long enough. */
  readonly giveUp: () => void
}

/** One request of an agent, from its body to its answer. */
export class AgentWork {
  readonly #around: Surroundings
  readonly #usual: UsualRequest
  readonly #requestId: string
  readonly #asker: Asker
  /** In milliseconds of the monotonic clock: for the meter, which must cost next to nothing. */
  readonly #startedAt = performance.now()
  readonly #start: bigint
  /** Named in the log line where the request fails. */
  #body: unknown
  #fiber: Fiber.Fiber<object, CoreError> | undefined
  #isLeft = false

  constructor(around: Surroundings, usual: UsualRequest, requestId: string, asker: Asker) {
    this.#around = around
    this.#usual = usual
    this.#requestId = requestId
    this.#asker = asker
    this.#start = around.isLogged ? around.clock.currentTimeNanosUnsafe() : 0n
  }

  /** Does what the body asks for. It may have been answered when this returns. */
  begin(body: Uint8Array): void {
    inTurn(body, () => {
      if (!this.#isLeft) this.#do(body)
    })
  }

  #do(body: Uint8Array): void {
    const parsed = parseJson(body)
    if (Result.isFailure(parsed)) return this.#refuse({ code: "validation", message: parsed.failure })
    const { calls, run, scope } = this.#around
    const { endpoint, sender } = this.#usual
    this.#body = parsed.success
    const call: (sender: Sender, body: unknown) => Effect.Effect<object, CoreError> = calls[endpoint]
    const fiber = run(call(sender, parsed.success))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return this.#onExit(exit)
    this.#fiber = Fiber.runIn(fiber, scope)
    fiber.addObserver((ended) => this.#onExit(ended))
  }

  /** The client is gone: nobody waits for what is still at work. */
  interrupt(): void {
    this.#isLeft = true
    this.#fiber?.interruptUnsafe()
  }

  #onExit(exit: Exit.Exit<object, CoreError>): void {
    this.#fiber = undefined
    if (exit._tag === "Success") this.#answer({ reply: exit.value })
    else this.#onCause(exit.cause)
  }

  #onCause(cause: Cause.Cause<CoreError>): void {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error !== undefined) {
      if (error._tag === "StorageError") {
        this.#around.run(this.#around.failureLog.storage(error, this.#logFields()))
      }
      this.#refuse(failureOf(error))
    } else if (Cause.hasInterruptsOnly(cause)) {
      this.#asker.giveUp()
    } else {
      this.#around.run(this.#around.failureLog.defect(cause, this.#logFields()))
      this.#refuse(unforeseen)
    }
  }

  #logFields() {
    const { endpoint, sender } = this.#usual
    return {
      request_id: this.#requestId,
      method: "POST",
      path: `/api/v1/${endpoint}`,
      client: sender.address,
      ...agentNamedIn(this.#body),
    }
  }

  #refuse(failure: Failure): void {
    this.#answer({ failure })
  }

  #answer(answer: DirectAnswer): void {
    if (!this.#asker.answer(answer, this.#requestId)) return
    const { isLogged, meters } = this.#around
    const status = statusOf(answer)
    meters[this.#usual.endpoint].answered(status, performance.now() - this.#startedAt)
    if (isLogged) this.#log(status)
  }

  #log(status: number): void {
    const { clock, run } = this.#around
    const nanos = clock.currentTimeNanosUnsafe() - this.#start
    const url = `/api/v1/${this.#usual.endpoint}`
    run(logRequest({ method: "POST", url, status, nanos, requestId: this.#requestId }))
  }
}
