import type { AgentId, CheckId, OutboxId } from "@tocsin/core/contract/Identifiers"
import type { Scope } from "@tocsin/core/workspace/Scope"

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

const isAsked = (part: Scope[keyof Scope]): boolean =>
  part !== undefined && !(Array.isArray(part) && part.length === 0)

/** Whether a scope asks for nothing but these parts. */
export const asksOnlyFor = (scope: Scope, parts: ReadonlySet<keyof Scope>): boolean => {
  for (const part in scope) {
    // A scope has no properties but its parts.
    const name = part as keyof Scope
    if (!parts.has(name) && isAsked(scope[name])) return false
  }
  return true
}

const partsOfAgent: ReadonlySet<keyof Scope> = new Set(["agents", "checks"])
const partsOfOutbox: ReadonlySet<keyof Scope> = new Set(["outboxItems"])

/**
 * What the first scope of a decision makes it share a transaction with. `undefined` for all others: they are rare, may
 * search, and have a transaction of their own.
 */
export const groupScopeOf = (first: Scope): GroupScope | undefined => {
  const { agents = [], checks, outboxItems = [] } = first
  if (outboxItems.length > 0) {
    return asksOnlyFor(first, partsOfOutbox) ? { kind: "outbox", outbox_ids: outboxItems } : undefined
  }
  const [agent_id, another] = agents
  if (agent_id === undefined || another !== undefined || !asksOnlyFor(first, partsOfAgent)) return undefined
  if (checks === undefined) return { kind: "agent", agent_id, check_ids: [] }
  return checks.agent_id === agent_id ? { kind: "agent", agent_id, check_ids: checks.check_ids } : undefined
}
