import {
  decodeEnrolRequest,
  decodeEventBatchRequest,
  decodeExpectationsRequest,
  decodeHeartbeatRequest,
} from "@tocsin/contract/v1/decodeRequest"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import { Result } from "effect"

/**
 * How the server behaves. `lost` and `killed` apply a request whose answer never arrives. `gateway` is
 * a program in between that answers in the server's place, with a wrong time.
 */
export type Fault = "none" | "500" | "429" | "nothing" | "half" | "lost" | "killed" | "gateway"

/** A request of an agent. */
export interface AgentRequest {
  readonly kind: "heartbeat" | "events" | "declaration" | "enrolment"
  readonly body: string
}

interface FaultyAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfter?: string
  readonly date?: string
}

interface Event {
  readonly event_id: string
  readonly check_id: string
  readonly observed_at: string
  readonly status: string
  readonly exit_code: number
  readonly output?: string
}

const answerOf = (status: number, body: unknown, more: Partial<FaultyAnswer> = {}): FaultyAnswer => ({
  status,
  body: JSON.stringify(body),
  ...more,
})

const refusal = (status: number, code: string, message = code): FaultyAnswer =>
  answerOf(status, { error: { code, message, request_id: "faulty" } })

const DECODERS: Readonly<
  Record<AgentRequest["kind"], (body: unknown) => Result.Result<unknown, ValidationError>>
> = {
  heartbeat: decodeHeartbeatRequest,
  events: decodeEventBatchRequest,
  declaration: decodeExpectationsRequest,
  enrolment: decodeEnrolRequest,
}

/** The status codes of gateways and captive portals for each kind of request. */
const GATEWAY: Readonly<Record<AgentRequest["kind"], number>> = {
  heartbeat: 429,
  events: 429,
  declaration: 200,
  enrolment: 200,
}
const GATEWAY_DATE = "Thu, 01 Jan 2037 00:00:00 GMT"

const MAX_BODY_BYTES = 1_048_576
const MILLIS_PER_SECOND = 1_000

/** The output that the server refuses, so that an agent has to find the event among others. */
export const POISON = "poison"

/** A server that reads requests by the contract and follows docs/rules.md#events, with faults. */
export class FaultyServer {
  fault: Fault = "none"
  /** Whether only events meet the fault, for an agent that sends none after a failed heartbeat. */
  sparesHeartbeats = false
  isAccepted = true
  /** The value of `Retry-After` with 429, in seconds. */
  retryAfterSeconds = 7
  /** The time of `Date`. */
  now = () => 0
  /** A request was applied when the agent was to die. */
  hasKilled = false
  /** Of each check, every change in the order of arrival. */
  readonly changes = new Map<string, Array<string>>()
  /** Of each check, the last output. */
  readonly outputs = new Map<string, string>()
  readonly known = new Set<string>()
  /** Events that the server ignored because a newer one had come: the agent lost them. */
  readonly late: Array<string> = []
  /** Why requests broke the contract. */
  readonly invalid: Array<string> = []
  /** Every request, those without an answer included. */
  readonly requests: Array<AgentRequest & { readonly at: number }> = []
  readonly #last = new Map<string, Event>()

  send = async (request: AgentRequest): Promise<FaultyAnswer> => {
    const seconds = Math.floor(this.now() / MILLIS_PER_SECOND)
    const date = new Date(seconds * MILLIS_PER_SECOND).toUTCString()
    this.requests.push({ kind: request.kind, body: request.body, at: this.now() })
    const fault = this.sparesHeartbeats && request.kind === "heartbeat" ? "none" : this.fault
    if (fault === "nothing") throw new Error("connect ECONNREFUSED")
    if (fault === "500") return refusal(500, "internal")
    if (fault === "429")
      return { ...refusal(429, "rate_limited"), retryAfter: String(this.retryAfterSeconds) }
    if (fault === "gateway")
      return { status: GATEWAY[request.kind], body: "<p>Sign in</p>", date: GATEWAY_DATE }
    const answer = this.#apply(request)
    if (fault === "killed") this.hasKilled = true
    if (fault === "lost" || fault === "killed") throw new Error("socket hang up")
    return fault === "half" ? { ...answer, body: answer.body.slice(0, 5) } : { ...answer, date }
  }

  #apply({ kind, body }: AgentRequest): FaultyAnswer {
    if (new TextEncoder().encode(body).length > MAX_BODY_BYTES) {
      this.invalid.push(`${kind}: more than 1 MiB`)
      return refusal(413, "payload_too_large")
    }
    const decoded = DECODERS[kind](parsed(body))
    if (Result.isFailure(decoded)) {
      this.invalid.push(`${kind}: ${decoded.failure.message}`)
      return refusal(400, "validation", decoded.failure.message)
    }
    if (kind === "heartbeat") return answerOf(202, { accepted: this.isAccepted })
    if (kind !== "events") return refusal(404, "not_found")
    if (!this.isAccepted) return refusal(403, "agent_not_accepted")
    // It was decoded above; its times stay texts here.
    const { events } = JSON.parse(body) as { readonly events: ReadonlyArray<Event> }
    if (events.some(({ output }) => output === POISON)) return refusal(400, "validation")
    for (const event of events) this.#take(event)
    return answerOf(202, { accepted: events.length, deduplicated: 0 })
  }

  #take(event: Event): void {
    if (this.known.has(event.event_id)) return
    const last = this.#last.get(event.check_id)
    if (last !== undefined && Date.parse(event.observed_at) < Date.parse(last.observed_at)) {
      this.late.push(event.event_id)
      return
    }
    this.known.add(event.event_id)
    this.#last.set(event.check_id, event)
    this.outputs.set(event.check_id, event.output ?? "")
    if (last?.status === event.status && last.exit_code === event.exit_code) return
    const changes = this.changes.get(event.check_id) ?? []
    changes.push(`${event.status} ${event.exit_code}`)
    this.changes.set(event.check_id, changes)
  }
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
