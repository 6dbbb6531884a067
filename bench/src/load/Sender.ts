import { CHECK_NUMBERS, type Load, type Step } from "./Load.ts"
import type { Protocol } from "./protocols/Protocol.ts"
import { type AgentBytes, RequestTemplate } from "./RequestTemplate.ts"
import { Stamp } from "./Stamp.ts"

/** An agent, and what it has reported. */
export interface SendingAgent extends AgentBytes {
  /** Whether its last batch was critical. */
  isCritical: boolean
  /** Reports of single checks, which are taken in turn, and how many of them were changes. */
  reports: number
  changes: number
}

/** A request and its description. The bytes are valid until the next one is rendered. */
export interface RenderedRequest {
  readonly step: Step
  readonly bytes: Buffer
}

const CHECKS = CHECK_NUMBERS.map((check) => Buffer.from(check))
const NO_CHECK = Buffer.alloc(0)

/** Renders the requests of the agents of one connection. */
export class Sender {
  readonly #load: Load
  readonly #agents: ReadonlyArray<SendingAgent>
  readonly #protocol: Protocol
  readonly #host: string
  readonly #stamp = new Stamp()
  readonly #templates = new Map<string, RequestTemplate>()
  #agent = 0
  #step = 0

  constructor(load: Load, agents: ReadonlyArray<SendingAgent>, protocol: Protocol, host: string) {
    this.#load = load
    this.#agents = agents
    this.#protocol = protocol
    this.#host = host
  }

  next(): RenderedRequest {
    const agent = this.#agents[this.#agent]
    const step = this.#load[this.#step]
    if (agent === undefined || step === undefined) throw new Error("a connection has no agents, or no load")
    this.#advance()
    this.#stamp.advance()
    const { operationsOf, singles = CHECKS.length } = this.#protocol
    const { check, isCritical } = operationsOf(step) === 1 ? single(agent, step, singles) : batch(agent, step)
    return { step, bytes: this.#templateOf(step, isCritical).render(agent, this.#stamp, check) }
  }

  #templateOf(step: Step, isCritical: boolean): RequestTemplate {
    const status = isCritical ? "critical" : "ok"
    const name = `${step} ${status}`
    const known = this.#templates.get(name)
    if (known !== undefined) return known
    const template = new RequestTemplate(this.#protocol.render(step, status, this.#host))
    this.#templates.set(name, template)
    return template
  }

  #advance(): void {
    this.#agent = (this.#agent + 1) % this.#agents.length
    if (this.#agent === 0) this.#step = (this.#step + 1) % this.#load.length
  }
}

const batch = (agent: SendingAgent, step: Step) => {
  if (step === "changing") agent.isCritical = !agent.isCritical
  return { check: NO_CHECK, isCritical: agent.isCritical }
}

/** The next check in turn: with the status that it has, or with the other one. */
const single = (agent: SendingAgent, step: Step, checks: number) => {
  const turn = step === "changing" ? agent.changes++ : agent.reports++
  const index = turn % checks
  const changesOfIt = Math.floor((agent.changes + checks - 1 - index) / checks)
  return { check: CHECKS[index] ?? NO_CHECK, isCritical: agent.isCritical !== (changesOfIt % 2 === 1) }
}
