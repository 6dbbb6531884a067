import type { IncomingMessage, ServerResponse } from "node:http"
import type { Visit } from "@tocsin/core/admission/BodyAdmission"
import type { Place } from "../request/Intake.ts"
import { joined } from "../request/RequestBody.ts"
import { type Asker, AgentWork } from "./AgentWork.ts"
import { type DirectAnswer, writtenAnswer } from "./DirectAnswer.ts"
import type { Surroundings } from "./Surroundings.ts"
import type { UsualRequest } from "./usualRequest.ts"

/** A usual request whose body may be read. */
export interface AdmittedRequest extends UsualRequest {
  readonly visit: Visit
}

/** One request of an agent that node:http has parsed, on its way: read, done, answered. */
export class AgentRequest implements Asker {
  readonly #around: Surroundings
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #work: AgentWork
  readonly #parts: Array<Buffer> = []
  readonly #visit: Visit
  #place: Place | undefined

  constructor(around: Surroundings, response: ServerResponse, { visit, ...usual }: AdmittedRequest) {
    this.#around = around
    this.#message = response.req
    this.#response = response
    this.#visit = visit
    this.#work = new AgentWork(around, usual, around.requestIdOf(response.req), this)
  }

  /** Reads the body as soon as there is room for it, and goes on from there. */
  begin(): void {
    this.#response.on("close", () => this.#end())
    this.#place = this.#around.intake.enter(this.#message, () => {
      this.#message.on("data", (part: Buffer) => this.#parts.push(part))
      this.#message.on("end", () => this.#work.begin(joined(this.#parts)))
    })
  }

  answer(answer: DirectAnswer, requestId: string): boolean {
    this.#leave()
    if (this.#response.destroyed) return false
    const isDraining = this.#around.isDraining()
    const { status, fields, body } = writtenAnswer(answer, { requestId, isDraining })
    this.#response.writeHead(status, fields)
    this.#response.end(body)
    return true
  }

  giveUp(): void {
    // Its connections are closed next.
    this.#response.destroy()
  }

  /** Answered, or the client is gone: then nobody waits for what is still at work. */
  #end(): void {
    this.#leave()
    this.#work.interrupt()
  }

  #leave(): void {
    this.#visit.leave()
    if (this.#place !== undefined) this.#around.intake.leave(this.#place)
  }
}
