import type { AgentId, OutboxId } from "@tocsin/contract/Identifiers"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"

/** Parts of requests, those of tables as `rows.TABLE` and `groups.TABLE`. */
type Parts = ReadonlySet<string>

/** One agent, with the checks of it that a command asks for first. */
export interface GroupKey {
  readonly kind: "agent"
  readonly agent_id: AgentId
  readonly request: RowRequest
}

/** Outbox items that a command asks for first. */
export interface OutboxScope {
  readonly kind: "outbox"
  readonly outbox_ids: ReadonlyArray<OutboxId>
  readonly request: RowRequest
}

/** The first request of a command that may share a transaction with others of its kind. */
export type CommandGroup = GroupKey | OutboxScope

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

const firstParts: { readonly [Kind in CommandGroup["kind"]]: Parts } = {
  agent: new Set(["agents", "checks"]),
  outbox: new Set(["rows.outbox"]),
}

/**
 * Other agents would be locked out of order, and incidents are locked before their outbox items.
 */
const furtherParts: { readonly [Kind in CommandGroup["kind"]]: Parts } = {
  agent: new Set([
    "rows.expectation",
    "groups.expectation",
    "history",
    "incidents",
    "openIncidents",
    "rows.incident_member",
    "worstMembers",
  ]),
  outbox: new Set(),
}

/**
 * The scope of a command by its first request. `undefined` for all others: they are rare, may
 * search, and run in a transaction of their own.
 */
export const commandScopeOf = (request: RowRequest): CommandGroup | undefined => {
  const { agents = [], checks, rows } = request
  const outbox_ids = rows?.outbox ?? []
  if (outbox_ids.length > 0) {
    return asksOnlyFor(request, firstParts.outbox) ? { kind: "outbox", outbox_ids, request } : undefined
  }
  const [agent_id, another] = agents
  if (agent_id === undefined || another !== undefined || !asksOnlyFor(request, firstParts.agent)) {
    return undefined
  }
  return checks === undefined || checks.agent_id === agent_id
    ? { kind: "agent", agent_id, request }
    : undefined
}

/** Whether a request repeats a part of the first requests of its group. */
export const asksForFirstParts = (request: RowRequest, { kind }: CommandGroup): boolean =>
  asksOnlyFor(request, firstParts[kind])

/** Whether a command may ask for a request in a transaction that it shares. */
export const mayShare = (request: RowRequest, { kind }: CommandGroup): boolean =>
  asksOnlyFor(request, furtherParts[kind])
