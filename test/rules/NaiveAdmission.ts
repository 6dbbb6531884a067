import { createHash } from "node:crypto"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Action, Reply } from "./Action.ts"
import { KEYS } from "./Scenario.ts"

interface NaiveKey {
  readonly text: string
  readonly agent_id: string
  state: "pending" | "accepted" | "superseded" | "blocked"
  seen_at: Instant
  /** Of a blocked key. */
  blocked?: { readonly at: Instant; readonly hostname: string }
}

interface NaiveAgent {
  readonly agent_id: string
  hostname: string
  observed_at: Instant
  seen_at: Instant
}

const MINUTE = 60_000_000n
const HOUR = 60n * MINUTE

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The fingerprint of a key that people compare. */
const fingerprintOf = (key: string): string => sha256(key).slice(0, 16)

/** The id of a blocked key. */
const blacklistIdOf = (key: string): string => sha256(`bl1:${sha256(key)}`)

/**
 * A second, naive implementation of docs/rules.md#agent-keys and docs/rules.md#heartbeats: lists of
 * keys and agents, with a scan for each question. Shares no code with the service.
 */
export class NaiveAdmission {
  #keys: ReadonlyArray<NaiveKey> = []
  #agents: ReadonlyArray<NaiveAgent> = []
  #isLastKeyListed = false
  readonly #maxPendingAgents: number

  constructor(maxPendingAgents: number) {
    this.#maxPendingAgents = maxPendingAgents
  }

  /** The expected reply to an action; of a batch only why it is refused, if it is. */
  take(action: Action, now: Instant): Reply {
    switch (action.action) {
      case "heartbeat":
        return this.#heartbeat(action.key, action.request, now)
      case "events":
        return this.#events(action.key, action.request.agent_id, now)
      case "accept":
        return this.#onAgent(action.agent_id, () => this.#accept(action.agent_id))
      case "block":
        return this.#onAgent(action.agent_id, () => this.#block(action.agent_id, now))
      case "remove":
        return this.#onAgent(action.agent_id, () => this.#remove(action.agent_id))
      case "accept_all": {
        const wanted = this.#agents.filter(
          (agent) => action.includeRotation || this.#isPending(agent.agent_id),
        )
        return { count: sum(wanted.map((agent) => this.#accept(agent.agent_id))) }
      }
      case "block_all": {
        const wanted = this.#agents.filter((agent) => this.#keyOf(agent.agent_id, "pending") !== undefined)
        return { count: sum(wanted.map((agent) => this.#block(agent.agent_id, now))) }
      }
      case "remove_all": {
        const wanted = this.#agents.filter((agent) => this.#isPending(agent.agent_id))
        return { count: sum(wanted.map((agent) => this.#remove(agent.agent_id))) }
      }
      case "unblock":
        return { count: this.#unblock((key) => blacklistIdOf(key.text) === action.id) }
      case "unblock_all":
        return { count: this.#unblock(() => true) }
      case "restart":
        this.#isLastKeyListed = action.preseeded
        return undefined
      case "wait":
      case "purge":
      case "sweep":
      case "reset_clock":
      case "remove_check":
      case "deliver":
        return undefined
    }
  }

  /** The agents as the list shows them. */
  agents() {
    return this.#agents
      .map(({ agent_id, hostname, seen_at }) => {
        const accepted = this.#keyOf(agent_id, "accepted")
        const pending = this.#keyOf(agent_id, "pending")
        return {
          agent_id,
          hostname,
          admission_state: accepted === undefined ? "pending" : "accepted",
          rotation_pending: accepted !== undefined && pending !== undefined,
          key_fingerprint: fingerprintOf((pending ?? accepted)?.text ?? "no key"),
          last_seen_at: seen_at,
        }
      })
      .toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1))
  }

  /** The blocked keys as the list shows them, by id. */
  blacklist() {
    return this.#keys
      .flatMap(({ text, agent_id, seen_at, blocked }) =>
        blocked === undefined
          ? []
          : {
              id: blacklistIdOf(text),
              key_fingerprint: fingerprintOf(text),
              agent_id,
              hostname: blocked.hostname,
              created_at: blocked.at,
              last_seen_at: seen_at,
            },
      )
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  #keyOf(agentId: string, state: NaiveKey["state"]): NaiveKey | undefined {
    return this.#keys.find((key) => key.agent_id === agentId && key.state === state)
  }

  #agent(agentId: string): NaiveAgent | undefined {
    return this.#agents.find((agent) => agent.agent_id === agentId)
  }

  #isPending(agentId: string): boolean {
    return this.#agent(agentId) !== undefined && this.#keyOf(agentId, "accepted") === undefined
  }

  #heartbeat(text: string, request: HeartbeatRequest, now: Instant): Reply {
    const { agent_id } = request
    const key = this.#keys.find((one) => one.text === text)
    if (key?.state === "blocked") {
      if (now - key.seen_at >= MINUTE) key.seen_at = now
      return "AgentBlocked"
    }
    if (key !== undefined && key.agent_id !== agent_id) return "KeyConflict/key_of_another_agent"
    if (key?.state === "superseded") return "KeyConflict/superseded_key"
    const isListed = this.#isLastKeyListed && text === KEYS[3]
    if (key === undefined) return this.#heartbeatOfUnknownKey(text, request, now, isListed)
    key.seen_at = now
    if (isListed) this.#promote(key)
    const isHeard = key.state === "accepted" || this.#isPending(agent_id)
    if (isHeard) this.#hear(request, now)
    return { accepted: key.state === "accepted" }
  }

  #heartbeatOfUnknownKey(text: string, request: HeartbeatRequest, now: Instant, isListed: boolean): Reply {
    const { agent_id, hostname, observed_at } = request
    const agent = this.#agent(agent_id)
    const key: NaiveKey = { text, agent_id, state: "pending", seen_at: now }
    if (!isListed && agent === undefined) {
      const pendingAgents = this.#agents.filter((one) => this.#isPending(one.agent_id))
      if (pendingAgents.length >= this.#maxPendingAgents) return "RateLimited"
    }
    if (agent === undefined)
      this.#agents = [...this.#agents, { agent_id, hostname, observed_at, seen_at: now }]
    if (isListed) {
      this.#keys = [...this.#keys, key]
      this.#promote(key)
      this.#hear(request, now)
      return { accepted: true }
    }
    const other = this.#keyOf(agent_id, "pending")
    if (other !== undefined && now - other.seen_at < HOUR) return "KeyConflict/another_key_pending"
    this.#keys = [...this.#keys.filter((one) => one !== other), key]
    // The last report of the forgotten key is forgotten with it.
    if (agent !== undefined && this.#isPending(agent_id)) {
      agent.observed_at = observed_at
      this.#hear(request, now)
    }
    return { accepted: false }
  }

  /** The heartbeat counts as one of its agent. */
  #hear({ agent_id, hostname, observed_at }: HeartbeatRequest, now: Instant): void {
    const agent = this.#agent(agent_id)
    if (agent === undefined) return
    agent.seen_at = now
    if (observed_at < agent.observed_at) return
    agent.hostname = hostname
    agent.observed_at = observed_at
  }

  #events(text: string, agentId: string, now: Instant): Reply {
    const key = this.#keys.find((one) => one.text === text)
    if (key?.state === "blocked") return "AgentBlocked"
    const agent = this.#agent(agentId)
    if (agent === undefined || key?.agent_id !== agentId || key.state !== "accepted")
      return "AgentNotAccepted"
    key.seen_at = now
    agent.seen_at = now
    return undefined
  }

  #onAgent(agentId: string, act: () => number): Reply {
    return this.#agent(agentId) === undefined ? "AgentNotFound" : { count: act() }
  }

  #promote(key: NaiveKey): void {
    const old = this.#keyOf(key.agent_id, "accepted")
    if (old !== undefined && old !== key) old.state = "superseded"
    key.state = "accepted"
    // From now on the agent is seen where its accepted key is.
    const agent = this.#agent(key.agent_id)
    if (agent !== undefined && agent.seen_at > key.seen_at) key.seen_at = agent.seen_at
  }

  #accept(agentId: string): number {
    const key = this.#keyOf(agentId, "pending")
    if (key === undefined) return 0
    this.#promote(key)
    return 1
  }

  #block(agentId: string, now: Instant): number {
    const key = this.#keyOf(agentId, "pending") ?? this.#keyOf(agentId, "accepted")
    if (key === undefined) return 0
    key.state = "blocked"
    key.blocked = { at: now, hostname: this.#agent(agentId)?.hostname ?? "" }
    if (this.#keyOf(agentId, "accepted") === undefined) this.#remove(agentId)
    return 1
  }

  #remove(agentId: string): number {
    this.#agents = this.#agents.filter((agent) => agent.agent_id !== agentId)
    this.#keys = this.#keys.filter((key) => key.agent_id !== agentId || key.state === "blocked")
    return 1
  }

  #unblock(isWanted: (key: NaiveKey) => boolean): number {
    const freed = this.#keys.filter((key) => key.state === "blocked" && isWanted(key))
    this.#keys = this.#keys.filter((key) => !freed.includes(key))
    return freed.length
  }
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)
