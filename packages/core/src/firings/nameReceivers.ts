import type { Labels } from "@tocsin/contract/Labels"
import type { MatchedFacts } from "@tocsin/contract/Matcher"
import type { Severity } from "@tocsin/contract/Status"
import type { LoudMember } from "../engine/unitOfWork/SearchResults.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckName } from "../model/CheckRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, NamedReceivers, Naming, RouteId } from "../policy/routing.ts"
import { isBelow } from "./Hold.ts"
import { mergeLabels } from "./mergeLabels.ts"

/** An incident with more present members than this is evaluated by this many (docs/rules.md#mutes). */
export const MOST_MEMBERS = 500

/** Finds whom the routes of these loud members name. */
export const nameReceivers = (
  policy: Policy,
  incident: IncidentRecord,
  loud: ReadonlyArray<LoudMember>,
  countOpenings: CountOpenings,
): Naming | undefined => {
  if (loud.length === 0) return undefined
  if (!policy.hasRoutes) return policy.everyone
  const known = new Map<Severity, NamedReceivers>()
  const nameAs = (most: Severity): NamedReceivers => {
    const before = known.get(most)
    if (before !== undefined) return before
    const found = new Set<RouteId>()
    for (const { agent, labels, member } of loud) {
      const severity = isBelow(most, member.severity) ? most : member.severity
      policy.routes.match(matchedFacts({ ...incident, severity }, member, agent, labels), found)
    }
    const named = policy.routes.name(found, countOpenings)
    known.set(most, named)
    return named
  }
  const named = nameAs("critical")
  return {
    named,
    at: (severity) => (policy.routesBySeverity ? nameAs(severity) : named),
    isCut: loud.length >= MOST_MEMBERS && memberCount(incident) > MOST_MEMBERS,
  }
}

/** The facts of an incident's member that matchers compare; its agent may be gone. */
export const matchedFacts = (
  { incident_key, severity }: Pick<IncidentRecord, "incident_key" | "severity">,
  { agent_id, check_id }: CheckName,
  { hostname = "", labels }: Partial<Pick<AgentRecord, "hostname" | "labels">> = {},
  ofCheck?: Labels,
): MatchedFacts => ({
  agent_id,
  check_id,
  incident_key,
  severity,
  hostname,
  labels: mergeLabels(labels, ofCheck),
})
