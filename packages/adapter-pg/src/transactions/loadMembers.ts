import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { decodeMember, findMembers, findMembersOfAgents, findWorstMembers } from "../tables/MemberTable.ts"

/** Brings memberships into a workspace; the locks on their incidents and agents guard them. */
export const loadMembers = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  workspace: Workspace,
  { members = [], membersOfAgents = [], worstMembers }: RowRequest,
): Effect.fn.Return<void, SqlError.SqlError> {
  if (members.length > 0) {
    const wanted = members.map(({ incident_id, agent_id, check_id }) => ({ incident_id, agent_id, check_id }))
    const rows = yield* pg.queryJson(findMembers, wanted)
    for (const member of rows.map(decodeMember)) workspace.members.load(member, member)
    for (const ref of members) workspace.members.load(ref, undefined)
  }
  if (membersOfAgents.length > 0) {
    const rows = yield* pg.query(findMembersOfAgents, [membersOfAgents])
    for (const member of rows.map(decodeMember)) workspace.members.load(member, member)
    for (const agentId of membersOfAgents) workspace.membersOfAgents.add(agentId)
  }
  if (worstMembers === undefined) return
  const { incident_id, limit } = worstMembers
  // One more than asked for tells whether these are all.
  const found = (yield* pg.query(findWorstMembers, [incident_id, limit + 1])).map(decodeMember)
  const worst = found.slice(0, limit)
  for (const member of worst) workspace.members.load(member, member)
  workspace.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: found.length <= limit })
})
