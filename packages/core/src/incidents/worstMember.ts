import { ensure } from "../workspace/ensure.ts"
import type { Decision } from "../workspace/Decision.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import { compareMembers } from "./compareMembers.ts"
import type { IncidentRecord } from "./IncidentRecord.ts"
import type { MemberRecord } from "./MemberRecord.ts"

const FIRST_LOOK = 8
const GROWTH = 4

/**
 * The member that speaks for an incident. Loads as few members as tell: the ranking is read from its top, and further
 * down only while all that was read has left or improved in this very transaction.
 */
export function* worstMember(workspace: Workspace, incident: IncidentRecord): Decision<MemberRecord> {
  for (let limit = FIRST_LOOK; ; limit *= GROWTH) {
    yield* ensure(workspace, { worstMembers: { incident_id: incident.id, limit } })
    const ranking = workspace.rankings.get(incident.id)
    if (ranking === undefined) throw new Error(`the ranking of incident ${incident.id} was not loaded`)
    const worst = workspace.worstOf(incident.id)
    const known = ranking.complete || ranking.floor === undefined
    if (worst !== undefined && (known || compareMembers(worst, ranking.floor) <= 0)) return worst
    if (ranking.complete) throw new Error(`incident ${incident.id} counts members that it does not have`)
  }
}
