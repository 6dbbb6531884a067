import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { acknowledgementInForce } from "../model/Acknowledgement.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { SEVERITY_RANK } from "../model/MemberRecord.ts"
import type { HoldName } from "../model/OutboxRecord.ts"

/** Why a firing waits, and until when. */
export interface Hold {
  readonly by: HoldName
  readonly until: Instant.Instant
}

/** The end of a hold that only a change of the incident, or of the policy, ends. */
export const UNTIL_A_CHANGE: Instant.Instant = Instant.fromMicros(253_402_300_799_000_000n)

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** Whether a severity, or none, is milder than another. */
export const isBelow = (a: Severity | undefined, b: Severity): boolean =>
  a === undefined || SEVERITY_RANK[a] < SEVERITY_RANK[b]

/** The acknowledgement that holds a firing, if it is in force and was given for what is announced. */
export const acknowledgementHolds = (incident: IncidentRecord, now: Instant.Instant): ReadonlyArray<Hold> => {
  const acknowledgement = acknowledgementInForce(incident, now)
  const { severity, announced = severity } = incident
  return acknowledgement === undefined || isBelow(acknowledgement.severity, announced)
    ? []
    : [{ by: "ack", until: acknowledgement.until }]
}
