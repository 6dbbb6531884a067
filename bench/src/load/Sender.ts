import { heartbeatBody, resultsBody } from "./bodies.ts"
import type { Load, Step } from "./Load.ts"
import { type AgentBytes, RequestTemplate } from "./RequestTemplate.ts"
import { Stamp } from "./Stamp.ts"

/** An agent, and whether its checks were critical when it last sent results. */
export interface SendingAgent extends AgentBytes {
  isCritical: boolean
}

/** A request and its description. The bytes are valid until the next one is rendered. */
export interface RenderedRequest {
  readonly step: Step
  readonly bytes: Buffer
}

/** Renders the requests of the agents of one connection. */
export class Sender {
  readonly #load: Load
  readonly #agents: ReadonlyArray<SendingAgent>
  readonly #stamp = new Stamp()
  readonly #heartbeat: RequestTemplate
  readonly #ok: RequestTemplate
  readonly #critical: RequestTemplate
  #agent = 0
  #step = 0

  constructor(load: Load, agents: ReadonlyArray<SendingAgent>, host: string) {
    this.#load = load
    this.#agents = agents
    this.#heartbeat = new RequestTemplate(host, "/api/v1/heartbeat", heartbeatBody)
    this.#ok = new RequestTemplate(host, "/api/v1/events", (variables) => resultsBody(variables, "ok"))
    this.#critical = new RequestTemplate(host, "/api/v1/events", (variables) =>
      resultsBody(variables, "critical"),
    )
  }

  next(): RenderedRequest {
    const agent = this.#agents[this.#agent]
    const step = this.#load[this.#step]
    if (agent === undefined || step === undefined) throw new Error("a connection has no agents, or no load")
    this.#advance()
    this.#stamp.advance()
    if (step === "changing") agent.isCritical = !agent.isCritical
    return { step, bytes: this.#templateOf(step, agent).render(agent, this.#stamp) }
  }

  #templateOf(step: Step, agent: SendingAgent): RequestTemplate {
    if (step === "heartbeat") return this.#heartbeat
    return agent.isCritical ? this.#critical : this.#ok
  }

  #advance(): void {
    this.#agent = (this.#agent + 1) % this.#agents.length
    if (this.#agent === 0) this.#step = (this.#step + 1) % this.#load.length
  }
}
