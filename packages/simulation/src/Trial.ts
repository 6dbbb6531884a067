import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { HeldCount } from "@tocsin/contract/trial/PolicyTrial"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { IncidentRef } from "@tocsin/core/heart/model/IncidentRecord"
import type { TriedPolicy, PolicyCounts } from "@tocsin/core/features/trial/HistoryTrial"
import { defaultRules, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import type { SilenceRecord } from "@tocsin/core/heart/model/SilenceRecord"
import type { PastResults } from "./TrialChecks.ts"
import { type KnownAgent, simulatedSignature } from "./registrationOf.ts"
import { SimulatedService } from "./SimulatedService.ts"
import {
  type HeldBy,
  reasonOf,
  type SentNotification,
  type SimulationListener,
  type HeldFiring,
} from "./SimulatedCommits.ts"

/** Something that happened to an installation, as its tables show it. */
export type PastEntry = { readonly at: Instant.Instant } & (
  | ({ readonly entry: "results" } & PastResults)
  | { readonly entry: "died" | "returned"; readonly agent_id: AgentId }
  | ({ readonly entry: "acknowledged"; readonly until: Instant.Instant } & IncidentRef)
  | ({ readonly entry: "withdrawn" } & IncidentRef)
  /** A silence began. Its end is the last one that people gave it. */
  | { readonly entry: "silenced"; readonly silence: SilenceRecord }
  /** A rota was taken over, or will be, until the last end that people gave it. */
  | { readonly entry: "overridden"; readonly override: RotaOverrideRecord }
)

/** The past that a policy is tried on. */
export interface TrialOptions extends Pick<RuleOptions, "staleAfter"> {
  /** The agents that are registered now. */
  readonly agents: ReadonlyArray<KnownAgent>
  readonly start: Instant.Instant
  /** Messages are counted from here on; what came before sets the scene. */
  readonly since: Instant.Instant
}

/**
 * Counts what a policy would have sent of an installation's past, by the service's own decisions. Keeps
 * the present state of checks and open incidents, and no more, however long the past is.
 */
export class Trial {
  readonly #service: SimulatedService
  readonly #tally: Tally

  constructor({ notifiers, policy }: TriedPolicy, { agents, since, staleAfter, start }: TrialOptions) {
    this.#tally = new Tally(since)
    const tried = { ...defaultRules, staleAfter, notifiers, policy }
    this.#service = new SimulatedService(tried, { listener: this.#tally, start })
    for (const agent of agents) this.#service.register(agent, start)
  }

  take(entries: ReadonlyArray<PastEntry>): void {
    for (const entry of entries) this.#take(entry)
    this.#service.forget()
  }

  end(until: Instant.Instant): PolicyCounts {
    this.#service.passUntil(until)
    for (const firing of this.#service.end()) this.#tally.discarded(firing)
    return this.#tally.counts()
  }

  #take(entry: PastEntry): void {
    const { at } = entry
    const service = this.#service
    service.passUntil(at)
    switch (entry.entry) {
      case "results":
        return service.follow(entry, at)
      case "died":
      case "returned":
        return service.turned(entry.agent_id, entry.entry, at)
      case "withdrawn":
        return void service.withdraw(entry, OPERATOR, at)
      case "silenced":
        return service.began(entry.silence, at)
      case "overridden":
        return service.overridden(entry.override, at)
      case "acknowledged": {
        const given = { by: OPERATOR, note: undefined, severity: undefined, until: entry.until }
        return void service.acknowledge(entry, given, at)
      }
    }
  }
}

/** No report names who acted. */
const OPERATOR = simulatedSignature()

class Tally implements SimulationListener {
  readonly #since: Instant.Instant
  readonly #messages = new Map<NotifierName, number>()
  readonly #held = new Map<string, HeldCount>()

  constructor(since: Instant.Instant) {
    this.#since = since
  }

  readonly sent = ({ at, heldBy, notification: { receiver } }: SentNotification): void => {
    if (at < this.#since) return
    this.#messages.set(receiver, (this.#messages.get(receiver) ?? 0) + 1)
    if (heldBy.length > 0) this.#count(receiver, heldBy, "sent")
  }

  readonly discarded = (firing: HeldFiring): void => {
    const { heldBy, item } = firing
    if (item.state === "discarded" && item.updated_at < this.#since) return
    this.#count(item.receiver, heldBy, reasonOf(firing))
  }

  readonly ended = (): void => {}

  counts(): PolicyCounts {
    return { messages: this.#messages, held: Array.from(this.#held.values()) }
  }

  #count(receiver: NotifierName, heldBy: HeldBy, outcome: HeldCount["outcome"]): void {
    const held_by = Array.from(new Set(heldBy.map((by) => /^(?:parent|silence)(?=:)/u.exec(by)?.[0] ?? by)))
    const name = `${receiver} ${outcome} ${held_by.join(" ")}`
    const firings = (this.#held.get(name)?.firings ?? 0) + 1
    this.#held.set(name, { receiver, held_by, outcome, firings })
  }
}
