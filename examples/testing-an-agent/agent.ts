// A small agent: it keeps what it could not send, and sends it again with the same ids.
import { newEventId } from "tocsin"
import type { CheckResultEvent, CheckStatus } from "tocsin"

/** The start options of an agent. */
export interface AgentOptions {
  /** Where Tocsin is, without a slash at the end. */
  readonly url: string
  readonly agentId: string
  /** Made once and kept: 1 to 512 visible ASCII characters. */
  readonly key: string
  /** Tells the time, as an ISO 8601 instant. */
  readonly now: () => string
}

/** An agent of one host. */
export class Agent {
  readonly #options: AgentOptions
  readonly #unsent: Array<CheckResultEvent> = []

  constructor(options: AgentOptions) {
    this.#options = options
  }

  /** Says that the host is alive. Resolves with whether an operator has accepted the key. */
  async heartbeat(): Promise<boolean> {
    const { agentId, now } = this.#options
    const features = { push: true, metrics: false }
    const answer = await this.#post("heartbeat", {
      agent_id: agentId,
      observed_at: now(),
      hostname: `${agentId}.example`,
      features,
    })
    return ((await answer.json()) as { accepted: boolean }).accepted
  }

  /** Notes a result, then sends what is unsent. */
  async report(check_id: string, status: CheckStatus, output: string): Promise<void> {
    const exit_code = { ok: 0, warning: 1, critical: 2, unknown: 3 }[status]
    const event_id = newEventId()
    const observed_at = this.#options.now()
    this.#unsent.push({ event_id, check_id, observed_at, status, exit_code, duration_ms: 0, output })
    const events = this.#unsent.slice(0, 200)
    const answer = await this.#post("events", { agent_id: this.#options.agentId, events }).catch(
      () => undefined,
    )
    // 403: not accepted yet. What is refused as invalid never gets better, and must not hold up the rest.
    if (answer?.ok || answer?.status === 400) this.#unsent.splice(0, events.length)
  }

  #post(path: string, body: object): Promise<Response> {
    return fetch(`${this.#options.url}/api/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#options.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  }
}
