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
  /** When it may have ended earlier, unnoticed. */
  readonly again?: Instant.Instant | undefined
}

/** The end of a hold that only a change of the incident, or of the policy, ends. */
export const UNTIL_A_CHANGE: Instant.Instant = Instant.fromMicros(253_402_300_799_000_000n)

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** When a firing under these holds is evaluated. */
export const evaluatedAt = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  Instant.earliest([lastEnd(holds), ...holds.flatMap(({ again }) => again ?? [])]) ?? lastEnd(holds)

/** Whether a severity, or none, is milder than another. */
export const isBelow = (a: Severity | undefined, b: Severity): boolean =>
  a === undefined || SEVERITY_RANK[a] < SEVERITY_RANK[b]

/**
 * The holds on every firing of an incident: an acknowledgement that is in force and was given for what is
 * announced; and an opening in the future, until the repair of a clock that was set back.
 */
export const incidentHolds = (incident: IncidentRecord, now: Instant.Instant): ReadonlyArray<Hold> => {
  const acknowledgement = acknowledgementInForce(incident, now)
  const { opened_at, severity, announced = severity } = incident
  const opening = now < opened_at ? [{ by: "clock", until: opened_at } as const] : []
  return acknowledgement === undefined || isBelow(acknowledgement.severity, announced)
    ? opening
    : [...opening, { by: "ack", until: acknowledgement.until }]
}
