import type { AgentId, OutboxId, CheckId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { type Command, isLone, type LoneDecision, type Outcome } from "@tocsin/core/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/unitOfWork/RowRequest"
import { Search } from "@tocsin/core/unitOfWork/Search"
import { UnitOfWork } from "@tocsin/core/unitOfWork/UnitOfWork"
import type { AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/model/CheckRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { AnyShape } from "@tocsin/core/model/TableShape"
import { Result } from "effect"

/** Parts of requests, those of tables as `rows.TABLE` and `groups.TABLE`. */
type Parts = ReadonlySet<string>

export interface GroupKey {
  readonly kind: "agent"
  readonly agent_id: AgentId
  readonly request: RowRequest
}

interface OutboxScope {
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

/** Other agents would be locked out of order, and incidents are locked before their outbox items. */
const furtherParts: { readonly [Kind in CommandGroup["kind"]]: Parts } = {
  agent: new Set([
    "rows.expectation",
    "groups.expectation",
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

/** The scope of a command by its first request. The others are rare, may search, and run alone. */
const commandScopeOf = (request: RowRequest): CommandGroup | undefined => {
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

/** Rows of one agent that a command may be decided on. */
export interface CachedRows {
  readonly agent: AgentRecord
  /** A check of that agent, `"absent"` if it is known not to exist. */
  readonly check: (checkId: CheckId) => CheckRecord | "absent" | undefined
}

interface StartedCommand {
  readonly scope: CommandGroup
  readonly unit: UnitOfWork
  readonly decision: LoneDecision<Outcome<unknown>>
}

type OptimisticResult =
  /** It must not share a transaction. */
  | { readonly kind: "unshareable" }
  | { readonly kind: "unknown" }
  /** It asks for more, or changes more than the verifying statement can write; then it asks for nothing. */
  | { readonly kind: "more"; readonly next: RowRequest }
  /** It changes nothing but the moving columns of the agent and of every check that it looked at. */
  | {
      readonly kind: "decided"
      readonly outcome: Outcome<unknown>
      readonly agent: AgentRecord
      readonly checks: ReadonlyArray<CheckRecord>
    }

const UNSHAREABLE = { kind: "unshareable" } as const
const NOTHING_MORE = { kind: "more", next: {} } as const

// If a decision throws, its caller learns about it from the transaction that repeats it.
const unlessThrown = <A, B>(attempt: () => A, otherwise: B): A | B =>
  Result.getOrElse(Result.try(attempt), () => otherwise)

/** Runs a command up to its first request. `undefined` if it must not share a transaction. */
export const beginCommand = (command: Command<Outcome<unknown>>, now: Instant): StartedCommand | undefined =>
  unlessThrown(() => {
    if (isLone(command)) return undefined
    const unit = new UnitOfWork()
    const decision = command(unit, now)
    const step = decision.next()
    const scope = step.done === true || step.value instanceof Search ? undefined : commandScopeOf(step.value)
    return scope && { scope, unit, decision }
  }, undefined)

/** Decides on rows that may be stale. A decision that read a row without writing it is not taken. */
export const decideOptimistically = (
  begun: StartedCommand,
  scope: GroupKey,
  rows: CachedRows,
): OptimisticResult => unlessThrown(() => attempt(begun, scope, rows), UNSHAREABLE)

const attempt = ({ decision, unit }: StartedCommand, scope: GroupKey, rows: CachedRows): OptimisticResult => {
  if (!seed(unit, scope, rows)) return { kind: "unknown" }
  const step = decision.next()
  if (step.done !== true) {
    // A search of a command that is not lone may run in a group, after what the others ask for.
    if (step.value instanceof Search) return NOTHING_MORE
    return mayShare(step.value, scope) ? { kind: "more", next: step.value } : UNSHAREABLE
  }
  const changed = changedRows(unit, scope)
  return changed === undefined ? NOTHING_MORE : { kind: "decided", outcome: step.value, ...changed }
}

const checkIdsOf = ({ request }: GroupKey): ReadonlyArray<CheckId> => request.checks?.check_ids ?? []

const seed = (unit: UnitOfWork, scope: GroupKey, rows: CachedRows): boolean => {
  const { agent_id, registration_id } = rows.agent
  unit.agents.load(agent_id, rows.agent)
  for (const check_id of checkIdsOf(scope)) {
    const check = rows.check(check_id)
    if (check === undefined) return false
    if (check === "absent") unit.checks.load({ agent_id, registration_id, check_id }, undefined)
    else unit.checks.load(check, check)
  }
  return true
}

/** The rows that a decision changed; `undefined` if the verifying statement cannot write them. */
const changedRows = (unit: UnitOfWork, scope: GroupKey) => {
  const { agent: agents, check_state: checks, ...others } = unit.changes()
  for (const changes of Object.values(others)) if (changes.length > 0) return undefined
  const [change] = agents
  if (change?.before === undefined || change.after === undefined) return undefined
  if (!isSame(stayingOfAgent, change.before, change.after)) return undefined
  const refreshed: Array<CheckRecord> = []
  for (const { before, after } of checks) {
    if (before === undefined || after === undefined || !isSame(stayingOfCheck, before, after))
      return undefined
    refreshed.push(after)
  }
  const isAllWritten = refreshed.length === new Set(checkIdsOf(scope)).size
  return isAllWritten ? { agent: change.after, checks: refreshed } : undefined
}

/** The columns that a change must leave alone for the verifying statement to write it. */
const staying = <Row>({ columns }: AnyShape): ReadonlyArray<keyof Row> =>
  // The names of the shape's columns are those of its records.
  Object.keys(columns).filter(
    (name) => columns[name]?.moves !== true,
  ) as ReadonlyArray<string> as ReadonlyArray<keyof Row>

const stayingOfAgent = staying<AgentRecord>(storedTables.agent)
const stayingOfCheck = staying<CheckRecord>(storedTables.check_state)

const isSame = <Row>(columns: ReadonlyArray<keyof Row>, before: Row, after: Row): boolean => {
  for (const column of columns) {
    if (before[column] !== after[column]) return false
  }
  return true
}
