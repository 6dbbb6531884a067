import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import type { AgentCache, Versioned } from "../cache/AgentCache.ts"
import { decideOnRows, isForGroups, type KnownRows } from "../cache/decideOnRows.ts"
import { versionOf } from "../cache/verifyingUpdate.ts"
import { sqlError } from "../client/toSqlError.ts"
import type { Database } from "../Database.ts"
import { decide } from "../transactions/decide.ts"
import { loadScope } from "../transactions/loadScope.ts"
import { persistChanges, type TransactionMark } from "../transactions/persistChanges.ts"
import { settledTransaction } from "../transactions/settledTransaction.ts"
import { loadAgents, loadForeseen, type Loading } from "./loadGroup.ts"
import type { AgentScope, Submission } from "./Submission.ts"

/** A member of a group: a command that asks for one agent first. */
export type Member = Submission & { readonly asked: AgentScope }

interface GroupContext {
  readonly database: Database
  readonly cache: AgentCache
  /** Takes over a member that cannot stay in the group; it is gone from the group then. */
  readonly evict: (member: Member) => void
}

/** A member with the reply of its decision. */
export interface Replied {
  readonly member: Member
  readonly reply: unknown
}

/** PostgreSQL's own settings for plans are those of the connection; see `PgStorage`. */
const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

/**
 * Decides a group of commands, one after the other on shared rows, in one transaction. Succeeds once that is durable.
 * Agents are locked first, all in one step that waits for nobody, then the incidents that the decisions are foreseen to
 * need, in the order of their ids; a member whose agent is missing or held by somebody else is evicted.
 */
export const groupTransaction = (
  context: GroupContext,
  members: Set<Member>,
): Effect.Effect<ReadonlyArray<Replied>, SqlError.SqlError | StorageError> =>
  Effect.suspend(() => {
    const { pg, sql } = context.database
    const loading: Loading = { pg, workspace: new Workspace(), versions: new Map() }
    const body = Effect.gen(function* () {
      yield* loadGroup(context, loading, members)
      const replies: Array<Replied> = []
      for (const member of members) {
        const now = member.now()
        const decision = member.command(loading.workspace, now)
        const reply = yield* decide(decision, (scope) =>
          isForGroups(scope) ? loadScope(pg, loading.workspace, scope, now) : refuse,
        )
        replies.push({ member, reply })
      }
      return { reply: replies, mark: yield* persistChanges(pg, loading.workspace.changes(), "inserted") }
    })
    const begin = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.provideService(sql.withTransaction(effect), SqlClient.BeginTransaction, BEGIN)
    return Effect.map(settledTransaction(pg, begin, body), ({ mark, reply }) => {
      if (mark !== undefined) remember(context.cache, loading, members, mark)
      return reply
    })
  })

/** Rows were not as the cache had told, and a command turns out to need more than a group may lock. */
const refuse = sqlError("UnknownError", {
  message: "A command of a group needs a transaction of its own",
  operation: "execute",
})

const loadGroup = Effect.fnUntraced(function* (
  { evict }: GroupContext,
  loading: Loading,
  members: Set<Member>,
): Effect.fn.Return<void, SqlError.SqlError> {
  const { workspace } = loading
  yield* loadAgents(
    loading,
    Array.from(members, ({ asked }) => asked),
  )
  for (const member of members) {
    if (!workspace.agents.isLoaded(member.asked.agent_id)) evict(member)
    else if (member.foreseen === undefined) foresee(workspace, member, evict)
  }
  yield* loadForeseen(
    loading,
    Array.from(members).flatMap(({ foreseen }) => foreseen ?? []),
  )
})

/** Looks, on rows of its own, what a member is going to ask for. */
const foresee = (workspace: Workspace, member: Member, evict: GroupContext["evict"]): void => {
  const tried = decideOnRows(member, (asked) => rowsIn(workspace, asked))
  if (tried.kind === "alone") evict(member)
  else if (tried.kind === "locked") member.foreseen = tried.foreseen
}

const rowsIn = (workspace: Workspace, { agent_id }: AgentScope): KnownRows | undefined => {
  const agent = workspace.agents.get(agent_id)
  if (agent === undefined) return undefined
  const { registration_id } = agent
  return {
    agent,
    check: (check_id) => workspace.checks.get({ agent_id, registration_id, check_id }) ?? "absent",
  }
}

/** Brings the cache up to date with what a committed group loaded and wrote. */
const remember = (
  cache: AgentCache,
  { versions, workspace }: Loading,
  members: Iterable<Member>,
  { server_run, transaction_id }: TransactionMark,
): void => {
  const written = versionOf(transaction_id)
  const versioned = <Row extends AgentRecord | CheckRecord>(row: Row): Versioned<Row> => ({
    row,
    version: versions.get(row) ?? written,
  })
  for (const { asked } of members) {
    const { agent_id, check_ids } = asked
    const agent = workspace.agents.get(agent_id)
    if (agent === undefined) {
      cache.drop(agent_id)
      continue
    }
    const { registration_id } = agent
    const checks = check_ids.map((check_id) => {
      const row = workspace.checks.get({ agent_id, registration_id, check_id })
      return [check_id, row && versioned(row)] as const
    })
    cache.keep({ agent: versioned(agent), checks }, server_run)
  }
}
