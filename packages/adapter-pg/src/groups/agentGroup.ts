import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { AgentCache, Versioned } from "../cache/AgentCache.ts"
import { decideOnRows, type KnownRows, mayShare } from "../cache/decideOnRows.ts"
import { versionOf } from "../cache/verifyingUpdate.ts"
import type { TransactionMark } from "../transactions/persistChanges.ts"
import type { AgentScope } from "./GroupScope.ts"
import type { Attempt, GroupKind } from "./groupTransaction.ts"
import { loadAgents, type LoadedVersions } from "./loadAgents.ts"
import { loadPredicted } from "./loadPredicted.ts"
import type { Asking } from "./Submission.ts"

/**
 * Commands on one agent each: what agents send. Agents are locked first, all in one step that waits for nobody, then the
 * incidents that the decisions are predicted to need, in the order of their ids. A member whose agent is missing or held by
 * somebody else is evicted.
 */
export const agentGroup = (cache: AgentCache): GroupKind<AgentScope> => {
  const versionsOf = new WeakMap<Workspace, LoadedVersions>()
  return {
    scope: "agent",
    load: (attempt) =>
      Effect.suspend(() => {
        const versions: LoadedVersions = { rows: new Map(), agents: new Map() }
        versionsOf.set(attempt.workspace, versions)
        return load(attempt, versions)
      }),
    mayAsk: mayShare,
    committed: (attempt, mark) => {
      const versions = versionsOf.get(attempt.workspace)
      if (versions !== undefined) remember(cache, attempt, versions, mark)
    },
  }
}

const load = Effect.fnUntraced(function* (
  { evict, members, pg, workspace }: Attempt<AgentScope>,
  versions: LoadedVersions,
): Effect.fn.Return<void, SqlError.SqlError> {
  const asked = Array.from(members, (member) => member.asked)
  yield* loadAgents({ pg, workspace, versions }, asked)
  for (const member of members) {
    if (!workspace.agents.isLoaded(member.asked.agent_id)) evict(member)
    else if (member.predicted === undefined) predict(workspace, member, evict)
  }
  const predicted = Array.from(members).flatMap((member) => member.predicted ?? [])
  yield* loadPredicted(pg, workspace, predicted)
})

/** Looks, on rows of its own, what a member is going to ask for. */
const predict = (
  workspace: Workspace,
  member: Asking<AgentScope>,
  evict: (member: Asking<AgentScope>) => void,
): void => {
  const tried = decideOnRows(member, (asked) => rowsIn(workspace, asked))
  if (tried.kind === "alone") evict(member)
  else if (tried.kind === "locked") member.predicted = tried.predicted
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
  { members, workspace }: Attempt<AgentScope>,
  versions: LoadedVersions,
  { server_run, transaction_id }: TransactionMark,
): void => {
  const written = versionOf(transaction_id)
  const versioned = <Row extends AgentRecord | CheckRecord>(row: Row): Versioned<Row> => ({
    row,
    version: versions.rows.get(row) ?? written,
  })
  for (const { asked } of members) {
    const { agent_id, check_ids } = asked
    const agent = workspace.agents.get(agent_id)
    const found = versions.agents.get(agent_id)
    if (agent === undefined || found === undefined) {
      cache.drop(agent_id)
      continue
    }
    const { registration_id } = agent
    const checks = check_ids.map((check_id) => {
      const row = workspace.checks.get({ agent_id, registration_id, check_id })
      return [check_id, row && versioned(row)] as const
    })
    cache.keep({ agent: versioned(agent), found, checks }, server_run)
  }
}
