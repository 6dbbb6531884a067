import type { Duration } from "effect"
import { type IncidentId, IncidentKey } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import { type AgentRecord, isSilent } from "../model/AgentRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { type Dependencies, emptySearches, listed } from "../policy/dependencies.ts"
import { EVALUATED_TOGETHER, loudFacts, piecesOf, readLoudMembers } from "./loudMembers.ts"
import type { LoudMembers } from "./mutes.ts"
import { MOST_MEMBERS } from "./nameReceivers.ts"
import { indexParents, type Parents, parentsOf, type PossibleParent, rulesOfChild } from "./parents.ts"

/** More open incidents, and more stale agents, are no parents. */
export const MOST_PARENTS = 10_000

interface Options {
  readonly dependencies: Policy["dependencies"]
  /** After this silence, an agent is stale. */
  readonly staleAfter: Duration.Duration
}

interface Child {
  readonly incident: IncidentRecord
  readonly loud: LoudMembers
}

/** Reads the parents of some incidents, given what matchers compare of each. Locks nothing. */
export function* readParents(
  unit: UnitOfWork,
  children: ReadonlyMap<IncidentId, Child>,
  { dependencies, staleAfter }: Options,
  now: Instant.Instant,
): Decision<ReadonlyMap<IncidentId, Parents>> {
  const found = new Map<IncidentId, Parents>()
  if (dependencies === undefined) return found
  const search = emptySearches()
  const dependent = Array.from(children.values()).flatMap(({ incident, loud }) => {
    const rules = rulesOfChild(dependencies, loud)
    for (const { rule } of rules) for (const facts of loud.members) rule.addTo(search, facts)
    return rules.length === 0 ? [] : [{ incident, loud, rules }]
  })
  if (dependent.length === 0) return found
  const staleSince = Instant.minus(now, staleAfter)
  yield {
    parents: {
      ...listed(search),
      staleSince: search.takesStale ? staleSince : undefined,
      limit: MOST_PARENTS,
    },
  }
  const { agents, incidents } = unit.searchResults.parents
  const stale = agents.filter((agent) => isSilent(agent, staleSince)).map(asParent)
  const index = indexParents(dependencies, [...(yield* readPossible(unit, incidents)), ...stale])
  for (const { incident, loud, rules } of dependent) {
    const { announced, id, severity } = incident
    found.set(id, parentsOf(index, { id, announced: announced ?? severity, loud, rules }))
  }
  return found
}

/** Those of these incidents that may be parents: they were announced, and a loud member is present. */
function* readPossible(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
): Decision<ReadonlyArray<PossibleParent>> {
  const announced = incidents.filter((incident) => incident.announced !== undefined)
  const possible: Array<PossibleParent> = []
  for (const piece of piecesOf(announced, EVALUATED_TOGETHER)) {
    const members = yield* readLoudMembers(unit, piece, { limit: MOST_MEMBERS })
    for (const incident of piece) {
      const loud = loudFacts(incident, members.get(incident.id) ?? [])
      const { id, incident_key, severity } = incident
      possible.push({
        name: `parent:${incident_key}`,
        id,
        announced: incident.announced ?? severity,
        isStale: false,
        loud,
      })
    }
  }
  return possible
}

/** A stale agent counts as its heartbeat incident, which it may soon have. */
const asParent = ({ agent_id, hostname, labels = {} }: AgentRecord): PossibleParent => {
  const incident_key = IncidentKey.make(`${agent_id}/${HEARTBEAT}`)
  const facts = { agent_id, hostname, labels, incident_key, severity: "critical" } as const
  return {
    name: `parent:${incident_key}`,
    id: undefined,
    announced: "critical",
    isStale: true,
    loud: { kind: "listed", members: [facts] },
  }
}

/** Reads the incidents that may be parents under a policy, as a text: another one means that holds may differ. */
export function* readParentMarks(unit: UnitOfWork, dependencies: Dependencies | undefined): Decision<string> {
  if (dependencies === undefined) return ""
  yield { parents: { ...dependencies.search, staleSince: undefined, limit: MOST_PARENTS } }
  const { incidents } = unit.searchResults.parents
  return incidents.map(({ announced, id, member_changes }) => `${id} ${member_changes} ${announced}`).join()
}
