import type { AgentId, CheckId, OutboxId } from "@tocsin/core/contract/Identifiers"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"

/** One agent, with the checks of it that a command asks for first. */
export interface AgentScope {
  readonly kind: "agent"
  readonly agent_id: AgentId
  readonly check_ids: ReadonlyArray<CheckId>
}

/** Outbox items that a command asks for first. */
export interface OutboxScope {
  readonly kind: "outbox"
  readonly outbox_ids: ReadonlyArray<OutboxId>
}

/** What a command asks for first that can share a transaction: with others of its kind. */
export type GroupScope = AgentScope | OutboxScope

const isAsked = (part: RowRequest[keyof RowRequest]): boolean =>
  part !== undefined && !(Array.isArray(part) && part.length === 0)

/** Whether a request asks for nothing but these parts. */
export const asksOnlyFor = (request: RowRequest, parts: ReadonlySet<keyof RowRequest>): boolean => {
  for (const part in request) {
    // A request has no properties but its parts.
    const name = part as keyof RowRequest
    if (!parts.has(name) && isAsked(request[name])) return false
  }
  return true
}

const partsOfAgent: ReadonlySet<keyof RowRequest> = new Set(["agents", "checks"])
const partsOfOutbox: ReadonlySet<keyof RowRequest> = new Set(["outboxItems"])

/**
 * What the first request of a decision makes it share a transaction with. `undefined` for all others: they are rare, may
 * search, and have a transaction of their own.
 */
export const groupScopeOf = (first: RowRequest): GroupScope | undefined => {
  const { agents = [], checks, outboxItems = [] } = first
  if (outboxItems.length > 0) {
    return asksOnlyFor(first, partsOfOutbox) ? { kind: "outbox", outbox_ids: outboxItems } : undefined
  }
  const [agent_id, another] = agents
  if (agent_id === undefined || another !== undefined || !asksOnlyFor(first, partsOfAgent)) return undefined
  if (checks === undefined) return { kind: "agent", agent_id, check_ids: [] }
  return checks.agent_id === agent_id ? { kind: "agent", agent_id, check_ids: checks.check_ids } : undefined
}
