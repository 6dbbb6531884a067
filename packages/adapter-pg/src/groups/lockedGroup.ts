import type { AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/model/CheckRecord"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { ensure } from "@tocsin/core/engine/workspace/ensure"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { AgentCache, Versioned } from "../cache/AgentCache.ts"
import { type AgentScope, asksForFirstParts, type CommandScope, mayShare } from "../cache/CommandScope.ts"
import { beginCommand, decideOnRows, type KnownRows } from "../cache/decideOnRows.ts"
import { versionOf } from "../cache/verifyingUpdate.ts"
import { sqlError } from "../client/toSqlError.ts"
import type { CommandDatabase } from "../Database.ts"
import { commandTransaction, type Committed } from "../transactions/commandTransaction.ts"
import { transaction } from "../transactions/indexedTransaction.ts"
import type { Loading } from "../transactions/Loading.ts"
import { loadRows } from "../transactions/loadRows.ts"
import { momentOf, moved, type Submission } from "./Submission.ts"

type Locked = Submission<"locked">
type Decided = Submission<"answered" | "alone">

/**
 * Decides commands on locked rows, one after the other, in one transaction. Once it is durable,
 * updates the cache, and returns the members: answered, or left out of the group.
 *
 * The group locks all agents in one statement that waits for none, then the incidents that its
 * members will probably ask for, in the order of their ids. A member is left out if its agent is
 * absent or held by another transaction, or if it asks for what a group must not lock.
 */
export const lockedGroup = (
  database: CommandDatabase,
  cache: AgentCache,
  members: ReadonlyArray<Locked>,
): Effect.Effect<ReadonlyArray<Decided>, SqlError.SqlError | StorageError> =>
  commandTransaction(
    database,
    {
      begin: transaction,
      newRows: "inserted",
      onCommitted: (committed: Committed<ReadonlyArray<Decided>>) => {
        const { reply } = committed
        const answered = members.filter((_, index) => reply[index]?.state === "answered")
        remember(cache, committed, answered)
        return reply
      },
    },
    (loading) => decideAll(loading, members),
  )

const decideAll = Effect.fnUntraced(function* (
  loading: Loading,
  members: ReadonlyArray<Locked>,
): Effect.fn.Return<ReadonlyArray<Decided>, SqlError.SqlError> {
  const { workspace } = loading
  yield* loadRows(
    loading,
    members.map(({ scope }): RowRequest => ({ ...scope.request, passesHeld: true })),
  )
  const expected = members.map((member) => nextRequest(workspace, member))
  yield* loadRows(
    loading,
    expected.filter((request) => request !== undefined),
  )
  const decided: Array<Decided> = []
  for (const [index, member] of members.entries()) {
    decided.push(
      expected[index] === undefined ? moved(member, "alone", {}) : yield* decideShared(loading, member),
    )
  }
  return decided
})

/** What a member will probably ask for next; `undefined` if it has to leave the group. */
const nextRequest = (workspace: Workspace, member: Locked): RowRequest | undefined => {
  const { next, scope } = member
  if (scope.kind === "outbox") return next
  const rows = knownRowsIn(workspace, scope)
  if (rows === undefined || next !== undefined) return rows && next
  const begun = beginCommand(member.caller.command, momentOf(member))
  const tried = begun && decideOnRows(begun, scope, rows)
  if (tried?.kind === "decided") return {}
  return tried?.kind === "more" ? tried.next : undefined
}

const decideShared = Effect.fnUntraced(function* (
  loading: Loading,
  member: Locked,
): Effect.fn.Return<Decided, SqlError.SqlError> {
  const { workspace } = loading
  workspace.beginCommand()
  const decision = member.caller.command(workspace, momentOf(member))
  let step = decision.next()
  while (step.done !== true) {
    const request = step.value
    if (mayShare(request, member.scope)) yield* loadRows(loading, [request])
    else if (!isLoaded(workspace, request, member.scope)) {
      if (!workspace.commandChanges().isWrite) return moved(member, "alone", {})
      return yield* sqlError("UnknownError", {
        message: "A command of a group needs a transaction of its own",
        operation: "execute",
      })
    }
    step = decision.next()
  }
  return moved(member, "answered", { answer: step.value })
})

/** Whether a request repeats a part of the first requests of the group. */
const isLoaded = (workspace: Workspace, request: RowRequest, scope: CommandScope): boolean =>
  asksForFirstParts(request, scope) && ensure(workspace, request).next().done === true

const knownRowsIn = (workspace: Workspace, { agent_id }: AgentScope): KnownRows | undefined => {
  const agent = workspace.agents.isLoaded(agent_id) ? workspace.agents.get(agent_id) : undefined
  if (agent === undefined) return undefined
  const { registration_id } = agent
  return {
    agent,
    check: (check_id) => workspace.checks.get({ agent_id, registration_id, check_id }) ?? "absent",
  }
}

/** Updates the cache with what a committed group loaded and wrote. */
const remember = (
  cache: AgentCache,
  { ref, versions, workspace }: Committed<unknown>,
  members: ReadonlyArray<Locked>,
): void => {
  if (ref === undefined) return
  const written = versionOf(ref.transaction_id)
  const versioned = <Row extends AgentRecord | CheckRecord>(row: Row): Versioned<Row> => ({
    row,
    version: versions.rows.get(row) ?? written,
  })
  for (const { scope } of members) {
    if (scope.kind !== "agent") continue
    const { agent_id, request } = scope
    const agent = workspace.agents.get(agent_id)
    const found = versions.agents.get(agent_id)
    if (agent === undefined || found === undefined) {
      cache.drop(agent_id)
      continue
    }
    const { registration_id } = agent
    const checks = (request.checks?.check_ids ?? []).map((check_id) => {
      const row = workspace.checks.get({ agent_id, registration_id, check_id })
      return [check_id, row && versioned(row)] as const
    })
    cache.keep({ agent: versioned(agent), found, checks }, ref.server_run)
  }
}
