import type { StorageError } from "@tocsin/core/ports/Storage"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import type { CommandDatabase } from "../Database.ts"
import { decide } from "../transactions/decide.ts"
import { loadRows } from "../transactions/loadRows.ts"
import { persistChanges, type TransactionMark } from "../transactions/persistChanges.ts"
import { settledTransaction } from "../transactions/settledTransaction.ts"
import { asksOnlyFor, type GroupScope } from "./GroupScope.ts"
import type { Asking } from "./Submission.ts"

/** One attempt to decide a group. */
export interface Attempt<Asked extends GroupScope> {
  readonly pg: PgClient["Service"]
  readonly workspace: Workspace
  /** In the order in which they arrived. */
  readonly members: Set<Asking<Asked>>
  /** Takes a member out of the group, to be decided alone. */
  readonly evict: (member: Asking<Asked>) => void
}

/** Commands that ask for the same kind of rows first, and how they are decided together. */
export interface GroupKind<Asked extends GroupScope> {
  readonly scope: Asked["kind"]
  /** Locks and loads what the members asked for first, in one order for all transactions. */
  readonly load: (attempt: Attempt<Asked>) => Effect.Effect<void, SqlError.SqlError>
  /** Whether a member may ask for more. */
  readonly mayAsk: (request: RowRequest) => boolean
  /** Called once the group is committed. */
  readonly committed: (attempt: Attempt<Asked>, mark: TransactionMark) => void
}

/** A member with the reply of its decision. */
export interface Replied<Asked extends GroupScope> {
  readonly member: Asking<Asked>
  readonly reply: unknown
}

/** What indexes are used is a setting of the connection; see `PgStorage`. */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

/** Decides commands one after the other on shared rows, in one transaction. Succeeds once that is durable. */
export const groupTransaction = <Asked extends GroupScope>(
  database: CommandDatabase,
  kind: GroupKind<Asked>,
  group: Pick<Attempt<Asked>, "members" | "evict">,
): Effect.Effect<ReadonlyArray<Replied<Asked>>, SqlError.SqlError | StorageError> =>
  Effect.suspend(() => {
    const { pg, sql } = database
    const workspace = new Workspace()
    const attempt: Attempt<Asked> = { pg, workspace, ...group }
    const body = Effect.gen(function* () {
      yield* kind.load(attempt)
      const replies: Array<Replied<Asked>> = []
      for (const member of group.members) {
        const now = member.now()
        const load = (request: RowRequest) => {
          if (isLoaded(workspace, request)) return Effect.void
          return kind.mayAsk(request) ? loadRows(pg, workspace, request, now) : refuse
        }
        replies.push({ member, reply: yield* decide(member.command(workspace, now), load) })
      }
      const mark = yield* persistChanges(pg, workspace.changes(), "inserted")
      return { reply: replies, mark, leavesDelivery: workspace.leavesDelivery }
    })
    const begin = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.provideService(sql.withTransaction(effect), SqlClient.BeginTransaction, BEGIN)
    return Effect.map(settledTransaction(database, begin, body), ({ mark, reply }) => {
      if (mark !== undefined) kind.committed(attempt, mark)
      return reply
    })
  })

const firstParts: ReadonlySet<keyof RowRequest> = new Set(["agents", "checks", "outboxItems"])

/** Whether a request asks again for what the group has loaded at once. */
const isLoaded = (workspace: Workspace, request: RowRequest): boolean => {
  const { agents = [], checks, outboxItems = [] } = request
  return (
    asksOnlyFor(request, firstParts) &&
    agents.every((id) => workspace.agents.isLoaded(id)) &&
    outboxItems.every((id) => workspace.outbox.isLoaded(id)) &&
    (checks === undefined || areLoaded(workspace, checks))
  )
}

const areLoaded = (
  workspace: Workspace,
  { agent_id, check_ids }: NonNullable<RowRequest["checks"]>,
): boolean => {
  if (!workspace.agents.isLoaded(agent_id)) return false
  const registration_id = workspace.agents.get(agent_id)?.registration_id
  if (registration_id === undefined) return true
  return check_ids.every((check_id) => workspace.checks.isLoaded({ agent_id, registration_id, check_id }))
}

/** A command needs more than a group may lock. */
const refuse = sqlError("UnknownError", {
  message: "A command of a group needs a transaction of its own",
  operation: "execute",
})
