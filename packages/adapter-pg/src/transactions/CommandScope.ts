import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { namesOfChecks } from "@tocsin/core/lists/StoredTables"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"

/** The subject of a command, by its first request: commands of one kind may share a transaction. */
export type CommandScope = AgentScope | OutboxScope

export interface AgentScope {
  readonly kind: "agent"
  readonly agent_id: AgentId
  readonly request: RowRequest
}

/** Items of the outbox whose attempts have ended. */
interface OutboxScope {
  readonly kind: "outbox"
  readonly request: RowRequest
}

/** Parts of requests, those of tables as `rows.TABLE` and `groups.TABLE`. */
type Parts = ReadonlySet<string>

const isAsked = (part: RowRequest[keyof RowRequest]): boolean =>
  part !== undefined && !(Array.isArray(part) && part.length === 0)

const asksOnlyFor = (request: RowRequest, parts: Parts): boolean => {
  for (const part in request) {
    // A request has no properties but its parts.
    const name = part as keyof RowRequest
    if (name === "rows" || name === "groups") {
      for (const [table, named] of Object.entries(request[name] ?? {}))
        if (named.length > 0 && !parts.has(`${name}.${table}`)) return false
    } else if (!parts.has(name) && isAsked(request[name])) return false
  }
  return true
}

const firstParts: { readonly [Kind in CommandScope["kind"]]: Parts } = {
  agent: new Set(["agents", "checks"]),
  outbox: new Set(["rows.outbox"]),
}

/** Other agents would be locked out of order, and incidents are locked before their outbox items. */
const furtherParts: { readonly [Kind in CommandScope["kind"]]: Parts } = {
  agent: new Set([
    ...namesOfChecks.flatMap((name) => [`rows.${name}`, `groups.${name}`]),
    "history",
    "incidents",
    "openIncidents",
    "rows.incident_member",
    // Of this very agent, whose row is locked before it.
    "rows.integration",
    "worstMembers",
  ]),
  outbox: new Set(),
}

/** The scope of a command. The others are rare, may search, and run alone. */
export const commandScopeOf = (request: RowRequest): CommandScope | undefined => {
  const { agents = [], checks, rows } = request
  if (rows?.outbox !== undefined && rows.outbox.length > 0)
    return asksOnlyFor(request, firstParts.outbox) ? { kind: "outbox", request } : undefined
  const [agent_id, another] = agents
  if (agent_id === undefined || another !== undefined || !asksOnlyFor(request, firstParts.agent)) {
    return undefined
  }
  return checks === undefined || checks.agent_id === agent_id
    ? { kind: "agent", agent_id, request }
    : undefined
}

/** Whether a request repeats a part of the first requests of its group. */
export const asksForFirstParts = (request: RowRequest, { kind }: CommandScope): boolean =>
  asksOnlyFor(request, firstParts[kind])

/** Whether a command may ask for a request in a transaction that it shares. */
export const mayShare = (request: RowRequest, { kind }: CommandScope): boolean =>
  asksOnlyFor(request, furtherParts[kind])
