import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { bytesAdded, bytesOfCheck } from "@tocsin/core/heart/model/heldBytes"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import type { Tables } from "../tables/makeTables.ts"
import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import type { RowSource } from "@tocsin/core/kernel/unitOfWork/RowSource"

/** An agent with those of its checks that were requested. */
interface CachedAgent {
  agent: AgentRecord | undefined
  registration_id: RegistrationId | undefined
  readonly checks: Map<CheckId, CheckRecord>
}

/** Rows as committed, valid until another process commits. Those unused for a generation are dropped. */
export class RowCache {
  readonly tables: Tables
  readonly #generationBytes: number
  #young = new Map<AgentId, CachedAgent>()
  #old = new Map<AgentId, CachedAgent>()
  #youngBytes = 0
  /** How many lookups of agents found one here, and how many did not. */
  hits = 0
  misses = 0

  /** Holds about `bytes`; with 0, nothing beyond a transaction. */
  constructor(tables: Tables, { bytes }: { readonly bytes: number }) {
    this.tables = tables
    this.#generationBytes = bytes / 2
  }

  /** Begins a transaction: drops rows that another process may have changed. */
  begin(isKnown: boolean): void {
    if (!isKnown || this.#generationBytes === 0) this.clear()
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }

  /** An agent, read from the table if it is not here. */
  agent(agentId: AgentId): AgentRecord | undefined {
    const known = this.#find(agentId)?.agent
    if (known !== undefined) {
      this.hits += 1
      return known
    }
    this.misses += 1
    const agent = this.tables.agents.find(agentId)
    if (agent !== undefined) this.#keepAgent(agent)
    return agent
  }

  /** A check, read from the table if it is not here. */
  check(ref: CheckRef): CheckRecord | undefined {
    const cached = this.#find(ref.agent_id)
    const known =
      cached?.registration_id === ref.registration_id ? cached.checks.get(ref.check_id) : undefined
    if (known !== undefined) return known
    const check = this.tables.checks.find(ref)
    if (check !== undefined) this.#keepCheck(check)
    return check
  }

  apply({ agent: agents, check_state: checks }: Pick<UnitOfWorkChanges, "agent" | "check_state">): void {
    for (const { before, after } of agents) {
      if (after !== undefined) this.#keepAgent(after)
      else if (before !== undefined) this.#forget(before.agent_id)
    }
    for (const { before, after } of checks) {
      if (after !== undefined) this.#keepCheck(after)
      else if (before !== undefined) this.#find(before.agent_id)?.checks.delete(before.check_id)
    }
  }

  #find(agentId: AgentId): CachedAgent | undefined {
    const young = this.#young.get(agentId)
    if (young !== undefined) return young
    const old = this.#old.get(agentId)
    if (old === undefined) return undefined
    this.#old.delete(agentId)
    this.#young.set(agentId, old)
    for (const check of old.checks.values()) this.#youngBytes += bytesOfCheck(check)
    if (old.agent !== undefined) this.#add(bytesAdded(undefined, old.agent))
    return old
  }

  #keepAgent(agent: AgentRecord): void {
    const cached = this.#cached(agent.agent_id)
    this.#add(bytesAdded(cached.agent, agent))
    cached.agent = agent
  }

  #keepCheck(check: CheckRecord): void {
    const cached = this.#cached(check.agent_id)
    if (cached.registration_id !== check.registration_id) {
      cached.checks.clear()
      cached.registration_id = check.registration_id
    }
    const former = cached.checks.get(check.check_id)
    cached.checks.set(check.check_id, check)
    this.#add(bytesOfCheck(check) - (former === undefined ? 0 : bytesOfCheck(former)))
  }

  #cached(agentId: AgentId): CachedAgent {
    const found = this.#find(agentId)
    if (found !== undefined) return found
    const created: CachedAgent = { agent: undefined, registration_id: undefined, checks: new Map() }
    this.#young.set(agentId, created)
    return created
  }

  #forget(agentId: AgentId): void {
    this.#young.delete(agentId)
    this.#old.delete(agentId)
  }

  #add(bytes: number): void {
    this.#youngBytes += bytes
    if (this.#youngBytes <= this.#generationBytes) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

/** The rows that transactions read: the cached ones, and those of the tables. All users of a file share a machine. */
export const rowSource = (rows: RowCache): RowSource => {
  const { tables } = rows
  const {
    agents,
    alert,
    check_label,
    incident_member: members,
    incidents,
    keyed,
    outbox,
    policy_version,
    rota_override,
    silence,
  } = tables
  return {
    agent: (id) => rows.agent(id),
    blockedKey: tables.agent_key.findBlocked,
    check: (ref) => rows.check(ref),
    knownEvents: tables.history.known,
    incident: incidents.find,
    openIncident: incidents.findOpen,
    outboxOf: outbox.ofIncident,
    alertsOf: alert.ofIncident,
    row: (name, key) => keyed[name].find(key),
    group: (name, group) => keyed[name].ofGroup(group),
    pendingAgents: agents.countPending,
    worstMembers: members.worst,
    loudMembers: members.loud,
    labelsOf: check_label.labelsOf,
    dueOutbox: ({ limit, receivers }, now) => outbox.due(receivers, now, limit),
    expiredOutbox: ({ limit, receivers }, now) => outbox.expired(receivers, now, limit),
    heldOutbox: ({ limit, receivers }, now) => outbox.held(receivers, now, limit),
    unclaimedOutbox: outbox.unclaimed,
    claimableAlerts: alert.claimable,
    dueIncidents: ({ limit }, now) => incidents.due(now, limit),
    parents: (asked) => ({ incidents: incidents.parents(asked), agents: agents.parents(asked) }),
    openings: ({ incident, ...asked }) => incidents.openings(incident, asked),
    silencesInForce: ({ begunBy, endingAfter }, now) => ({
      silences: silence.inForce(begunBy ?? now, endingAfter),
      serviceHeartbeat: keyed.service_heartbeat.find("service"),
    }),
    unendedSilences: silence.unended,
    overridesEndingAfter: rota_override.endingAfter,
    unended: (table, now) => tables.unended[table](now),
    newestPolicy: () => policy_version.newest(0, LAST_VERSION, 1)[0],
    idlePendingAgents: ({ limit, seenBefore }) => agents.idlePending(seenBefore, limit),
  }
}
