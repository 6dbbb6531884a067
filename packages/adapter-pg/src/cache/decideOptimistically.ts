import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import {
  type Command,
  isLone,
  type LoneDecision,
  type Outcome,
} from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import { Search } from "@tocsin/core/kernel/unitOfWork/Search"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import { Result } from "effect"
import { type AgentScope, type CommandScope, commandScopeOf, mayShare } from "../transactions/CommandScope.ts"

/** Rows of one agent that a command may be decided on. */
export interface CachedRows {
  readonly agent: AgentRecord
  /** A check of that agent, `"absent"` if it is known not to exist. */
  readonly check: (checkId: CheckId) => CheckRecord | "absent" | undefined
}

interface StartedCommand {
  readonly scope: CommandScope
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
    const unit = openUnit()
    const decision = command(unit, now)
    const step = decision.next()
    const scope = step.done === true || step.value instanceof Search ? undefined : commandScopeOf(step.value)
    return scope && { scope, unit, decision }
  }, undefined)

/** Decides on rows that may be stale. A decision that read a row without writing it is not taken. */
export const decideOptimistically = (
  begun: StartedCommand,
  scope: AgentScope,
  rows: CachedRows,
): OptimisticResult => unlessThrown(() => attempt(begun, scope, rows), UNSHAREABLE)

const attempt = (
  { decision, unit }: StartedCommand,
  scope: AgentScope,
  rows: CachedRows,
): OptimisticResult => {
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

const checkIdsOf = ({ request }: AgentScope): ReadonlyArray<CheckId> => request.checks?.check_ids ?? []

const seed = (unit: UnitOfWork, scope: AgentScope, rows: CachedRows): boolean => {
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
const changedRows = (unit: UnitOfWork, scope: AgentScope) => {
  if (unit.changesMore) return undefined
  const [change] = unit.agents.changes()
  if (change?.before === undefined || change.after === undefined) return undefined
  if (!isSame(stayingOfAgent, change.before, change.after)) return undefined
  const refreshed: Array<CheckRecord> = []
  for (const { before, after } of unit.checks.changes()) {
    if (before === undefined || after === undefined || !isSame(stayingOfCheck, before, after))
      return undefined
    refreshed.push(after)
  }
  const asked = checkIdsOf(scope)
  // Most requests name each check once.
  const isAllWritten = refreshed.length === asked.length || refreshed.length === new Set(asked).size
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
