import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { acknowledgementFor, acknowledgementOf } from "../model/Acknowledgement.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { isReplaced, namesInForce, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { HoldName, StoredHold } from "../model/StoredHold.ts"
import { type Hold, type Holds, momentOf, NO_HOLDS, quietSince, UNTIL_A_CHANGE } from "./Hold.ts"
import { quietHolds, type QuietReceivers } from "./mutes.ts"
import { type HeldRow, holdByParents } from "./parentHolds.ts"
import { NO_PARENTS, type Parents } from "./parents.ts"
import { beginsSteps } from "./steps.ts"

/** The facts that hold the firings of an incident, for any receiver. */
export interface HoldFacts {
  readonly incident: IncidentRecord
  /** The silences and windows that cover it. */
  readonly covering: ReadonlyArray<Hold>
  readonly parents: Parents
  readonly quiet: QuietReceivers
  /** Those under which something of it was due before steps began again. */
  readonly dueUnder?: ReadonlyArray<HoldName>
}

/** The facts that hold one firing. A claim, which sees its row alone, knows of no others. */
export interface HeldFacts {
  /** Absent for a new firing. */
  readonly row?: HeldRow | undefined
  /** Its receiver; or all that an incident names, of which each must be quiet. */
  readonly receivers: Iterable<NotifierName>
  /** When it is due by its delay, if it has one; the grace of parents counts from then. */
  readonly due?: Instant.Instant | undefined
  /** The end of its delay, while that holds it. */
  readonly after?: Instant.Instant | undefined
  /** Why a row that is held stays so, whatever else ends. */
  readonly lacks?: "notifications_off" | "not_owed" | undefined
  /** Until when it waits for reports after an outage, if nothing else holds it. */
  readonly reportsUntil?: Instant.Instant | undefined
}

/** Under these, a firing is not due yet, or not any more. */
const NOT_YET: ReadonlySet<HoldName> = new Set(["after", "not_owed"])

/** Decides what holds a firing (docs/rules.md#holds): when it is written, claimed, evaluated, or shown. */
export const decideHolds = (
  { covering, dueUnder = [], incident, parents, quiet }: HoldFacts,
  { after, due, lacks, receivers, reportsUntil, row }: HeldFacts,
  now: Instant.Instant,
): Holds => {
  const ofIncident = incidentHolds(incident, now)
  const isNew = row === undefined && lacks === undefined && reportsUntil === undefined
  const isFree = parents === NO_PARENTS && ofIncident.length + covering.length + quiet.size === 0
  // Without a policy most firings: nothing holds them, and no list is made.
  if (isNew && isFree && after === undefined) return NO_HOLDS
  const byParents = holdByParents(row, parents, { due, now })
  const others: ReadonlyArray<Hold> = [
    ...(after === undefined ? [] : [{ by: "after", until: after } as const]),
    ...ofIncident,
    ...covering,
    ...quietHolds(quiet, receivers, incident),
    ...byParents.inForce,
    ...(lacks === undefined ? [] : [{ by: lacks, until: UNTIL_A_CHANGE } as const]),
  ]
  const isDue = after === undefined && lacks === undefined
  // Steps that begin again as such a hold ends make it due later, and end no wait.
  const hasEnded = row?.holds?.some(
    (hold) => hold.wasDue === true && others.every(({ by }) => by !== hold.by),
  )
  const wasUnder = hasEnded === true || dueUnder.includes("outage")
  const before = wasUnder ? others.filter(({ by }) => !NOT_YET.has(by)) : others
  // A row waits after an outage once, unless it is due at another moment.
  const isAnew = isDue && row !== undefined && namesInForce(row).some((by) => NOT_YET.has(by))
  const outage = holdAfterOutage(before, isAnew ? undefined : row, reportsUntil, now)
  const known = row?.holds?.flatMap((hold) => (hold.wasDue === true ? hold.by : [])) ?? []
  const wasDue = ({ by }: Hold) => known.includes(by) || dueUnder.includes(by)
  return {
    inForce: [...others, ...outage.inForce].map((hold) =>
      beginsSteps(hold) && (isDue || wasDue(hold) || (wasUnder && hold.by === "outage"))
        ? { ...hold, wasDue: true }
        : hold,
    ),
    past: [...byParents.past, ...outage.past],
  }
}

/**
 * The holds on every firing of an incident: an acknowledgement that is in force and was given for what is
 * announced; and an opening in the future, until the repair of a clock that was set back.
 */
const incidentHolds = (incident: IncidentRecord, now: Instant.Instant): ReadonlyArray<Hold> => {
  const { opened_at, severity, announced = severity } = incident
  const acknowledgement = acknowledgementFor(incident, announced, now)
  const opening = now < opened_at ? [{ by: "clock", until: opened_at } as const] : []
  return acknowledgement === undefined ? opening : [...opening, { by: "ack", until: acknowledgement.until }]
}

/** How soon a claim looks again at a firing that an evaluation replaces. */
const LOOK_AGAIN = Duration.seconds(5)

/** The holds of a firing that was attempted before: an acknowledgement, and once that has ended, until it is replaced. */
export const retryHolds = (
  incident: IncidentRecord,
  item: OutboxRecord,
  now: Instant.Instant,
): ReadonlyArray<Hold> => {
  const acknowledgement = acknowledgementOf(incident)
  const { announced = incident.severity } = incident
  const hasEnded = isReplaced(item) || (acknowledgement !== undefined && acknowledgement.until <= now)
  const since = quietSince(item) ?? acknowledgement?.at
  const hold = { by: "ack", ...(since !== undefined && { since }) } as const
  if (hasEnded) return [{ ...hold, until: Instant.plus(now, LOOK_AGAIN) }]
  if (acknowledgement === undefined || isBelow(acknowledgement.severity, announced)) return []
  return [{ ...hold, until: acknowledgement.until }]
}

const WAITED: StoredHold = { by: "outage", hasEnded: true }

/** The wait after an outage, which begins where nothing else holds a firing. */
const holdAfterOutage = (
  others: ReadonlyArray<Hold>,
  row: HeldRow | undefined,
  reportsUntil: Instant.Instant | undefined,
  now: Instant.Instant,
): Holds => {
  const before = row?.holds?.find(({ by }) => by === "outage")
  if (before?.hasEnded === true) return { inForce: [], past: [before] }
  if (before === undefined && (others.length > 0 || reportsUntil === undefined)) return NO_HOLDS
  // A clock that was set back may have dated the end ahead.
  const end =
    reportsUntil &&
    (before?.until === undefined ? reportsUntil : Instant.min(momentOf(before.until), reportsUntil))
  if (end !== undefined && now < end) return { inForce: [{ by: "outage", until: end }], past: [] }
  return { inForce: [], past: before === undefined ? [] : [WAITED] }
}
