import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
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
import { commandTransaction, decide, type Decided } from "../transactions/commandTransaction.ts"
import { transaction } from "../transactions/indexedTransaction.ts"
import type { Loading } from "../transactions/Loading.ts"
import { loadRows } from "../transactions/loadRows.ts"
import { momentOf, moved, type Submission } from "./Submission.ts"

type Locked = Submission<"locked">

/** The members of a group after its commit. */
interface Outcome {
  readonly answered: ReadonlyArray<Submission<"answered">>
  readonly leftOut: ReadonlyArray<Submission<"alone">>
}

/**
 * Decides commands on locked rows, one after the other, in one transaction. Succeeds once it is
 * durable, and then updates the cache.
 *
 * The group locks all agents in one statement that waits for none, then the incidents that its
 * members will probably ask for, in the order of their ids. A member whose agent is absent or held
 * by another transaction is left out.
 */
export const lockedGroup = (
  database: CommandDatabase,
  cache: AgentCache,
  members: ReadonlyArray<Locked>,
): Effect.Effect<Outcome, SqlError.SqlError | StorageError> =>
  Effect.map(
    commandTransaction(database, { begin: transaction, newRows: "inserted" }, (loading) =>
      decideAll(loading, members),
    ),
    (decided) => {
      const scopes = decided.reply.staying.map(({ scope }) => scope)
      remember(cache, decided, scopes)
      return decided.reply
    },
  )

const decideAll = Effect.fnUntraced(function* (
  loading: Loading,
  members: ReadonlyArray<Locked>,
): Effect.fn.Return<Outcome & { readonly staying: ReadonlyArray<Locked> }, SqlError.SqlError> {
  const { workspace } = loading
  yield* loadRows(
    loading,
    members.map(({ scope }): RowRequest => ({ ...scope.request, passesHeld: true })),
  )
  const requests = members.map((member) => [member, nextRequest(workspace, member)] as const)
  yield* loadRows(
    loading,
    requests.flatMap(([, next]) => next ?? []),
  )
  const staying = requests.flatMap(([member, next]) => (next === undefined ? [] : member))
  const answered: Array<Submission<"answered">> = []
  for (const member of staying) {
    const decision = member.caller.command(workspace, momentOf(member))
    const reply = yield* decide(decision, (request) => loadShared(loading, member.scope, request))
    answered.push(moved(member, "committed", { answer: Effect.succeed(reply) }))
  }
  const others = requests.flatMap(([member, next]) =>
    next === undefined ? moved(member, "left_out", {}) : [],
  )
  return { answered, leftOut: others, staying }
})

/** What a member will probably ask for next; `undefined` if it has to leave the group. */
const nextRequest = (workspace: Workspace, member: Locked): RowRequest | undefined => {
  const { scope } = member
  if (scope.kind === "outbox") return member.next
  const rows = knownRowsIn(workspace, scope)
  if (rows === undefined || member.next !== undefined) return rows && member.next
  const begun = beginCommand(member.caller.command, momentOf(member))
  const tried = begun && decideOnRows(begun, scope, rows)
  if (tried?.kind === "decided") return {}
  return tried?.kind === "more" ? tried.next : undefined
}

const knownRowsIn = (workspace: Workspace, { agent_id }: AgentScope): KnownRows | undefined => {
  const agent = workspace.agents.isLoaded(agent_id) ? workspace.agents.get(agent_id) : undefined
  if (agent === undefined) return undefined
  const { registration_id } = agent
  return {
    agent,
    check: (check_id) => workspace.checks.get({ agent_id, registration_id, check_id }) ?? "absent",
  }
}

const loadShared = (loading: Loading, scope: CommandScope, request: RowRequest) => {
  const isRepeated = asksForFirstParts(request, scope)
  if (isRepeated && ensure(loading.workspace, request).next().done === true) return Effect.void
  return mayShare(request, scope) ? loadRows(loading, [request]) : refuse
}

/** A command needs more than a group may lock. */
const refuse = sqlError("UnknownError", {
  message: "A command of a group needs a transaction of its own",
  operation: "execute",
})

/** Updates the cache with what a committed group loaded and wrote. */
const remember = (
  cache: AgentCache,
  { mark, versions, workspace }: Decided<unknown>,
  scopes: ReadonlyArray<CommandScope>,
): void => {
  if (mark === undefined) return
  const written = versionOf(mark.transaction_id)
  const versioned = <Row extends AgentRecord | CheckRecord>(row: Row): Versioned<Row> => ({
    row,
    version: versions.rows.get(row) ?? written,
  })
  for (const scope of scopes) {
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
    cache.keep({ agent: versioned(agent), found, checks }, mark.server_run)
  }
}
