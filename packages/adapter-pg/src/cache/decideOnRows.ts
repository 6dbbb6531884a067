import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import type { CheckId } from "@tocsin/core/contract/Identifiers"
import { Result } from "effect"
import { type AgentScope, asksOnlyFor, groupScopeOf } from "../groups/GroupScope.ts"
import type { Submission } from "../groups/Submission.ts"
import { isOnlyRefreshed, isOnlySeen } from "./movesOnly.ts"

/** Rows of one agent that a command may be tried on. */
export interface KnownRows {
  readonly agent: AgentRecord
  /** A check of that agent, `"absent"` where it is known that there is none. */
  readonly check: (checkId: CheckId) => CheckRecord | "absent" | undefined
}

/** What became of a try on `Rows`. */
export type Tried<Rows> =
  /** It needs a transaction of its own. */
  | { readonly kind: "alone" }
  /** It has to be decided on locked rows, with others; it will ask for `predicted` then, if that could be seen. */
  | { readonly kind: "locked"; readonly predicted: RowRequest | undefined }
  /** It is decided, and changes nothing but the moved columns of the agent and of every check that it looked at. */
  | {
      readonly kind: "decided"
      readonly rows: Rows
      readonly reply: unknown
      readonly agent: AgentRecord
      readonly checks: ReadonlyArray<CheckRecord>
    }

const ALONE = { kind: "alone" } as const
const LOCKED = { kind: "locked", predicted: undefined } as const

/** What decisions on one agent may ask for in a shared transaction; further agents would be locked out of order. */
const sharedParts: ReadonlySet<keyof RowRequest> = new Set([
  "history",
  "incidents",
  "openIncidents",
  "members",
  "worstMembers",
])

/** Whether a decision on one agent may ask for a request in a transaction that other commands share. */
export const mayShare = (request: RowRequest): boolean => asksOnlyFor(request, sharedParts)

/**
 * Tries a command on rows that may be stale. What is decided holds only if the statement that writes it finds the versions
 * of these rows unchanged; therefore a decision that looked at a row which it does not write is not taken.
 */
export const decideOnRows = <Rows extends KnownRows>(
  submission: Submission,
  find: (asked: AgentScope) => Rows | undefined,
): Tried<Rows> =>
  // What a decision throws is told to its caller when it is made in earnest.
  Result.getOrElse(
    Result.try(() => attempt(submission, find)),
    () => ALONE,
  )

const attempt = <Rows extends KnownRows>(
  submission: Submission,
  find: (asked: AgentScope) => Rows | undefined,
): Tried<Rows> => {
  const workspace = new Workspace()
  const decision = submission.command(workspace, submission.now())
  let step = decision.next()
  if (step.done === true) return ALONE
  const asked = groupScopeOf(step.value)
  submission.asked = asked
  if (asked === undefined) return ALONE
  if (asked.kind !== "agent") return LOCKED
  const rows = find(asked)
  if (rows === undefined || !seed(workspace, asked, rows)) return LOCKED
  step = decision.next()
  if (step.done !== true) return mayShare(step.value) ? { kind: "locked", predicted: step.value } : ALONE
  const changed = changedRows(workspace, asked)
  return changed === undefined ? LOCKED : { kind: "decided", rows, reply: step.value, ...changed }
}

const seed = (workspace: Workspace, { agent_id, check_ids }: AgentScope, rows: KnownRows): boolean => {
  workspace.agents.load(agent_id, rows.agent)
  const { registration_id } = rows.agent
  for (const check_id of check_ids) {
    const check = rows.check(check_id)
    if (check === undefined) return false
    if (check === "absent") workspace.checks.load({ agent_id, registration_id, check_id }, undefined)
    else workspace.checks.load(check, check)
  }
  return true
}

/** The rows that a decision changed; `undefined` where the verifying statement cannot write them. */
const changedRows = (workspace: Workspace, asked: AgentScope) => {
  const { agents, checks, ...others } = workspace.changes()
  for (const changes of Object.values(others)) if (changes.length > 0) return undefined
  const [change] = agents
  if (change?.before === undefined || change.after === undefined) return undefined
  if (!isOnlySeen(change.before, change.after)) return undefined
  const refreshed: Array<CheckRecord> = []
  for (const { before, after } of checks) {
    if (before === undefined || after === undefined || !isOnlyRefreshed(before, after)) return undefined
    refreshed.push(after)
  }
  const isAllWritten = refreshed.length === new Set(asked.check_ids).size
  return isAllWritten ? { agent: change.after, checks: refreshed } : undefined
}
