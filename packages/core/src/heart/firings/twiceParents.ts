import type { LoudMember } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { HEARTBEAT, memberCount } from "../model/MemberRecord.ts"
import { MOST_MEMBERS } from "./loudMembers.ts"
import { holdingParents, PARENT, type ParentName, type Parents } from "./parents.ts"

/** Whether a member's check reports by a key that two agents use: its incident has a parent without a policy. */
const isTwice = (loud: Omit<LoudMember, "labels"> | undefined): boolean =>
  loud?.agent?.twice_at !== undefined && loud.member.check_id !== HEARTBEAT

const TWICE = "/@twice"

/** Whether all loud members of an incident decide, by the worst of them and by what held its firings before. */
export const needsAll = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  worst: LoudMember | undefined,
): boolean =>
  isTwice(worst) || Array.from(holdingParents(unit, incident)).some((name) => name.endsWith(TWICE))

/** Whether a loaded member of an incident reports so. */
export const hasTwice = (unit: UnitOfWork, { id }: IncidentRecord): boolean =>
  unit
    .membersOf(id)
    .some(
      (member) =>
        unit.agents.isLoaded(member.agent_id) && isTwice({ member, agent: unit.agents.get(member.agent_id) }),
    )

/**
 * The parents of an incident, with those of agents whose key two agents use: they hold it if all its loud members are
 * checks of such agents (docs/rules.md#two-agents-with-one-key). Each look finds the end of such an incident.
 */
export const withTwice = (
  incident: IncidentRecord,
  loud: ReadonlyArray<LoudMember>,
  parents: Parents,
): Parents => {
  const of = loud.filter(isTwice)
  if (of.length === 0) return parents
  const twice = Array.from(
    new Set(of.map(({ member }): ParentName => `${PARENT}${member.agent_id}${TWICE}`)),
  ).toSorted()
  const lasting = new Set([...parents.lasting, ...twice])
  if (of.length < loud.length || memberCount(incident) > MOST_MEMBERS) return { ...parents, lasting }
  const names = Array.from(new Set([...parents.names, ...twice])).toSorted()
  return { ...parents, names, lasting, isPresent: true, isStale: true }
}
