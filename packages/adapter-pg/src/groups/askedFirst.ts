import type { Scope } from "@tocsin/core/workspace/Scope"
import type { AgentScope } from "./Submission.ts"

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

const firstParts: ReadonlySet<keyof Scope> = new Set(["agents", "checks"])

/**
 * The one agent, with its checks, that a decision asks for first. `undefined` where it asks for anything else: such a command
 * is rare, may search, and has a transaction of its own.
 */
export const agentScopeOf = (first: Scope): AgentScope | undefined => {
  const { agents = [], checks } = first
  const [agent_id, another] = agents
  if (agent_id === undefined || another !== undefined || !asksOnlyFor(first, firstParts)) return undefined
  if (checks === undefined) return { agent_id, check_ids: [] }
  return checks.agent_id === agent_id ? { agent_id, check_ids: checks.check_ids } : undefined
}
