import type { HttpAnswer } from "@tocsin/client/agent/Answer"
import type { OutgoingRequest, Transport } from "@tocsin/client/agent/Transport"

/** How the server behaves. `lost` and `killed` apply a request whose answer never arrives. */
export type Fault = "none" | "500" | "429" | "nothing" | "half" | "lost" | "killed"

interface Event {
  readonly event_id: string
  readonly check_id: string
  readonly observed_at: string
  readonly status: string
  readonly exit_code: number
  readonly output?: string
}

const answerOf = (status: number, body: unknown, more: Partial<HttpAnswer> = {}): HttpAnswer => ({
  status,
  body: JSON.stringify(body),
  ...more,
})

const refusal = (status: number, code: string): HttpAnswer =>
  answerOf(status, { error: { code, message: code } })

/** A server that follows docs/rules.md#events, with faults. */
export class FaultyServer implements Transport {
  fault: Fault = "none"
  isAccepted = true
  /** The time of `Date`. */
  now = () => 0
  /** A request was applied when the agent was to die. */
  hasKilled = false
  /** Of each check, every change in the order of arrival. */
  readonly changes = new Map<string, Array<string>>()
  readonly known = new Set<string>()
  /** Events that the server ignored because a newer one had come: the agent lost them. */
  readonly late: Array<string> = []
  batches = 0
  readonly #last = new Map<string, Event>()

  send = async (request: Pick<OutgoingRequest, "kind" | "body">): Promise<HttpAnswer> => {
    const date = new Date(Math.floor(this.now() / 1_000) * 1_000).toUTCString()
    if (this.fault === "nothing") throw new Error("connect ECONNREFUSED")
    if (this.fault === "500") return refusal(500, "internal")
    if (this.fault === "429") return { ...refusal(429, "rate_limited"), retryAfter: "7" }
    const answer = this.#apply(request)
    if (this.fault === "killed") this.hasKilled = true
    if (this.fault === "lost" || this.fault === "killed") throw new Error("socket hang up")
    return this.fault === "half" ? { ...answer, body: answer.body.slice(0, 5) } : { ...answer, date }
  }

  #apply({ kind, body }: Pick<OutgoingRequest, "kind" | "body">): HttpAnswer {
    if (kind === "heartbeat") return answerOf(202, { accepted: this.isAccepted })
    if (kind !== "events") return refusal(404, "not_found")
    if (!this.isAccepted) return refusal(403, "agent_not_accepted")
    const { events } = JSON.parse(body) as { readonly events: ReadonlyArray<Event> }
    this.batches += 1
    if (events.length > 200 || Buffer.byteLength(body) > 1_048_576) return refusal(413, "payload_too_large")
    if (events.some(({ output }) => output === "poison")) return refusal(400, "validation")
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
    if (last?.status === event.status && last.exit_code === event.exit_code) return
    const changes = this.changes.get(event.check_id) ?? []
    changes.push(`${event.status} ${event.exit_code}`)
    this.changes.set(event.check_id, changes)
  }
}
