import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"
import type { LoudMember } from "../../kernel/unitOfWork/Search.ts"
import { reachedAt, SEVERITIES } from "../model/Announced.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount, isBelow } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, NamedReceiver, NamedReceivers, Naming, RouteId } from "../policy/routing.ts"
import { matchedFacts, MOST_MEMBERS } from "./loudMembers.ts"
import { NamedRotas, type PresentOnCall } from "./namedRotas.ts"
import { stepsBeginAfter } from "./steps.ts"

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
  onCallFacts: PresentOnCall,
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
  const facts = { ...onCallFacts, openedAt: incident.opened_at, acknowledgedAt: incident.ack_at }
  const onCall = policy.rotas && new NamedRotas(policy.rotas, first, facts)
  const named = onCall?.resolve(first) ?? first
  const resolved = new Map<Severity, NamedReceivers>()
  const at = (severity: Severity) => {
    const then = resolved.get(severity) ?? onCall?.resolve(nameAs(severity)) ?? nameAs(severity)
    resolved.set(severity, then)
    return then
  }
  return {
    named,
    onCall,
    at: (severity) => (policy.routesBySeverity ? at(severity) : named),
    isCut: loud.length >= MOST_MEMBERS && memberCount(incident) > MOST_MEMBERS,
  }
}

/** When a receiver is due by its step. */
export interface Due {
  readonly at: Instant.Instant
  /** Whether its firing is an escalation: a later step names it, or it stands beside another now. */
  readonly isLater: boolean
  /** Whether its row is written before it is due. */
  readonly isWritten: boolean
  /** Whether it waits from its event on; a firing without a delay is due at its event. */
  readonly isDelayed: boolean
}

/** Whether a receiver that knows of an incident is notified immediately when that gets worse. */
export const isFirst = ({ beside, first }: NamedReceiver): boolean =>
  first !== undefined || beside !== undefined

/**
 * When the routes want a receiver to be notified: the least over what was announced, and the receiver does not know
 * (docs/rules.md#steps).
 */
export const dueByRoutes = (
  incident: IncidentRecord,
  naming: Naming,
  { known, now, receiver }: { receiver: NotifierName; known?: Severity | undefined; now: Instant.Instant },
): Due | undefined => {
  const { announced } = incident
  if (announced === undefined) return undefined
  let due: Due | undefined
  const step = naming.named.get(receiver)
  const isEarly = step !== undefined && isFirst(step)
  const isBeside = step?.beside !== undefined && step.first === undefined
  const begun = stepsBeginAfter(incident, now)
  const consider = (from: Instant.Instant, delay: Duration.Duration | undefined, isLater: boolean) => {
    const at = delay && Instant.plus(from, delay)
    if (at !== undefined && (due === undefined || at < due.at || (at === due.at && due.isLater && !isLater)))
      due = {
        at,
        isLater,
        isWritten: isEarly || !isLater,
        isDelayed: !Duration.isZero(delay ?? Duration.zero),
      }
  }
  for (const severity of SEVERITIES) {
    const reached = reachedAt(incident, severity)
    const isKnown = known !== undefined && !isBelow(known, severity)
    if (isBelow(announced, severity) || isKnown || reached === undefined) continue
    const { beside, first, later = [] } = naming.at(severity).get(receiver) ?? {}
    consider(reached, first, isBeside)
    consider(reached, beside, true)
    consider(Instant.latest([reached, begun]) ?? reached, later[0], true)
  }
  return due
}

/** When the routes of an incident want the first receiver to be notified. */
export const firstDue = (
  incident: IncidentRecord,
  naming: Naming,
  now: Instant.Instant,
): Instant.Instant | undefined =>
  Instant.earliest(
    Array.from(naming.named.keys(), (receiver) => dueByRoutes(incident, naming, { receiver, now })?.at),
  )
