import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { load } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import { Search } from "@tocsin/core/kernel/unitOfWork/Search"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { AgentCache, Versioned } from "../cache/AgentCache.ts"
import { beginCommand, decideOptimistically, type CachedRows } from "../cache/decideOptimistically.ts"
import { versionOf } from "../cache/optimisticUpdate.ts"
import { sqlError } from "../client/toSqlError.ts"
import { type CommandDatabase, transaction } from "../Database.ts"
import {
  type AgentScope,
  asksForFirstParts,
  type CommandScope,
  mayShare,
} from "../transactions/CommandScope.ts"
import { commandTransaction, type Committed } from "../transactions/commandTransaction.ts"
import { type Loading, loadRows } from "../transactions/loadRows.ts"
import { answerStep } from "../transactions/search.ts"
import { momentOf, moved, type Submission } from "./Submission.ts"

type Locked = Submission<"locked">
type Decided = Submission<"answered" | "alone">

/**
 * Decides commands on locked rows in one transaction, and returns them: answered, or left out of the group.
 *
 * The group locks all agents in one statement that waits for none, then the incidents that its members will
 * probably ask for, in the order of their ids. A member is left out if its agent is absent or locked by another
 * transaction, or if it asks for what a group must not lock.
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

const decideAll = Effect.fnUntraced(function* (loading: Loading, members: ReadonlyArray<Locked>) {
  const { unit } = loading
  yield* loadRows(
    loading,
    members.map(({ scope }): RowRequest => ({ ...scope.request, skipLocked: true })),
  )
  const expected = members.map((member) => nextRequest(unit, member))
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

/** The next request that a member will probably make; `undefined` if it has to leave the group. */
const nextRequest = (unit: UnitOfWork, member: Locked): RowRequest | undefined => {
  const { next, scope } = member
  if (scope.kind === "outbox") return next
  const rows = knownRowsIn(unit, scope)
  if (rows === undefined || next !== undefined) return rows && next
  const begun = beginCommand(member.caller.command, momentOf(member))
  const tried = begun && decideOptimistically(begun, scope, rows)
  if (tried?.kind === "decided") return {}
  return tried?.kind === "more" ? tried.next : undefined
}

const decideShared = Effect.fnUntraced(function* (loading: Loading, member: Locked) {
  const { unit } = loading
  unit.beginCommand()
  const decision = member.caller.command(unit, momentOf(member))
  let step = decision.next()
  while (step.done !== true) {
    const asked = step.value
    let found: unknown
    if (asked instanceof Search || mayShare(asked, member.scope))
      found = yield* answerStep(loading, asked, momentOf(member))
    else if (!isLoaded(unit, asked, member.scope)) {
      if (!unit.commandChanges().isWrite) return moved(member, "alone", {})
      return yield* sqlError("UnknownError", {
        message: "A command of a group needs a separate transaction",
        operation: "execute",
      })
    }
    step = decision.next(found)
  }
  return moved(member, "answered", { answer: step.value })
})

const isLoaded = (unit: UnitOfWork, request: RowRequest, scope: CommandScope): boolean =>
  asksForFirstParts(request, scope) && load(unit, request).next().done === true

const knownRowsIn = (unit: UnitOfWork, { agent_id }: AgentScope): CachedRows | undefined => {
  const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
  if (agent === undefined) return undefined
  const { registration_id } = agent
  return {
    agent,
    check: (check_id) => unit.checks.get({ agent_id, registration_id, check_id }) ?? "absent",
  }
}

const remember = (
  cache: AgentCache,
  { ref, versions, unit }: Committed<unknown>,
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
    const agent = unit.agents.get(agent_id)
    const found = versions.agents.get(agent_id)
    if (agent === undefined || found === undefined) {
      cache.drop(agent_id)
      continue
    }
    const { registration_id } = agent
    const checks = (request.checks?.check_ids ?? []).map((check_id) => {
      const row = unit.checks.get({ agent_id, registration_id, check_id })
      return [check_id, row && versioned(row)] as const
    })
    cache.keep({ agent: versioned(agent), found, checks }, ref.server_run)
  }
}
