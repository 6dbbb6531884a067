import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/Status"
import type { LoudMember } from "../unitOfWork/Search.ts"
import { reachedAt, SEVERITIES } from "../model/Announced.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount, isBelow } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, NamedReceivers, Naming, RouteId } from "../policy/routing.ts"
import { matchedFacts, MOST_MEMBERS } from "./loudMembers.ts"
import { NamedRotas, type OnCallFacts } from "./namedRotas.ts"

/** Whom an incident names. */
export interface IncidentNaming extends Naming {
  /** The rotas among them; absent where the policy has none. */
  readonly onCall?: NamedRotas | undefined
}

/** Finds whom the routes of these loud members name, and who of the rotas among them is on call. */
export const nameReceivers = (
  policy: Policy,
  incident: IncidentRecord,
  loud: ReadonlyArray<LoudMember>,
  countOpenings: CountOpenings,
  onCallFacts: Omit<OnCallFacts, "openedAt">,
): IncidentNaming | undefined => {
  if (loud.length === 0) return undefined
  if (!policy.hasRoutes) return policy.everyone
  const { incident_key } = incident
  const known = new Map<Severity, NamedReceivers>()
  const nameAs = (most: Severity): NamedReceivers => {
    const before = known.get(most)
    if (before !== undefined) return before
    const found = new Set<RouteId>()
    for (const { agent, labels, member } of loud) {
      const severity = isBelow(most, member.severity) ? most : member.severity
      policy.routes.match(matchedFacts({ incident_key, severity }, member, agent, labels), found)
    }
    const named = policy.routes.name(found, countOpenings)
    known.set(most, named)
    return named
  }
  const first = nameAs("critical")
  const facts = { ...onCallFacts, openedAt: incident.opened_at }
  const onCall = policy.rotas && new NamedRotas(policy.rotas, first, facts)
  const named = onCall?.resolve(first) ?? first
  const at = (severity: Severity) => {
    const then = nameAs(severity)
    return onCall?.resolve(then) ?? then
  }
  return {
    named,
    onCall,
    at: (severity) => (policy.routesBySeverity ? at(severity) : named),
    isCut: loud.length >= MOST_MEMBERS && memberCount(incident) > MOST_MEMBERS,
  }
}

/** When a receiver is due by its step, which it is at once if it was notified of the incident before. */
export interface Due {
  readonly at: Instant.Instant
  readonly isLater: boolean
  /** Whether its row is written before it is due. */
  readonly isWritten: boolean
  /** Whether it waits from its event on; a firing without a delay is due at its event. */
  readonly isDelayed: boolean
}

/** When the routes want a receiver to be notified that knows nothing: the least over what was announced. */
export const dueByRoutes = (
  incident: IncidentRecord,
  naming: Naming,
  receiver: NotifierName,
): Due | undefined => {
  const { announced } = incident
  if (announced === undefined) return undefined
  let due: Due | undefined
  const isFirst = naming.named.get(receiver)?.isFirst === true
  const consider = (severity: Severity, named: NamedReceivers) => {
    const [reached, step] = [reachedAt(incident, severity), named.get(receiver)]
    if (reached === undefined || step === undefined) return
    const at = Instant.plus(reached, step.delay)
    const isEarlier = due === undefined || at < due.at || (at === due.at && due.isLater && !step.isLater)
    if (isEarlier)
      due = {
        at,
        isLater: step.isLater,
        isWritten: isFirst || !step.isLater,
        isDelayed: !Duration.isZero(step.delay),
      }
  }
  for (const severity of SEVERITIES)
    if (!isBelow(announced, severity)) consider(severity, naming.at(severity))
  return due
}

/** When the routes of an incident want the first receiver to be notified. */
export const firstDue = (incident: IncidentRecord, naming: Naming): Instant.Instant | undefined =>
  Instant.earliest(Array.from(naming.named.keys(), (receiver) => dueByRoutes(incident, naming, receiver)?.at))
