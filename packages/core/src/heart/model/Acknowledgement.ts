import type * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"
import { isBelow } from "./MemberRecord.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"

/** An operator takes care of an incident: until then, Tocsin sends no notification of it. */
export interface Acknowledgement {
  readonly by: string
  readonly note: string | undefined
  readonly at: Instant.Instant
  readonly until: Instant.Instant
  /** The incident's severity at that time. A worse one ends the acknowledgement. */
  readonly severity: Severity
}

/** The columns of an incident that state its acknowledgement: all of them, or none. */
type AckColumns = Pick<IncidentRecord, "ack_by" | "ack_note" | "ack_at" | "ack_until" | "ack_severity">

export const NOT_ACKNOWLEDGED: AckColumns = {
  ack_by: undefined,
  ack_note: undefined,
  ack_at: undefined,
  ack_until: undefined,
  ack_severity: undefined,
}

/** The columns of an incident whose acknowledgement has ended: its steps begin again (docs/rules.md#steps). */
export const endedAcknowledgement = (at: Instant.Instant | undefined) => ({
  ...NOT_ACKNOWLEDGED,
  steps_began_at: at,
})

export const ackColumns = ({ at, by, note, severity, until }: Acknowledgement): AckColumns => ({
  ack_by: by,
  ack_note: note,
  ack_at: at,
  ack_until: until,
  ack_severity: severity,
})

/** The acknowledgement of an incident that has not been withdrawn, in force or run out. */
export const acknowledgementOf = (incident: AckColumns): Acknowledgement | undefined => {
  const { ack_at, ack_by, ack_note, ack_severity, ack_until } = incident
  return ack_by === undefined || ack_at === undefined || ack_until === undefined || ack_severity === undefined
    ? undefined
    : { by: ack_by, note: ack_note, at: ack_at, until: ack_until, severity: ack_severity }
}

/** Whether an open incident has an acknowledgement, in force at a moment if one is given. */
export const isAcknowledged = (
  { ack_until, state }: Pick<IncidentRecord, "ack_until" | "state">,
  at: Instant.Instant | undefined,
): boolean => state === "open" && ack_until !== undefined && (at === undefined || at < ack_until)

export const acknowledgementInForce = (
  incident: AckColumns,
  now: Instant.Instant,
): Acknowledgement | undefined => {
  const acknowledgement = acknowledgementOf(incident)
  return acknowledgement !== undefined && now < acknowledgement.until ? acknowledgement : undefined
}

/** The acknowledgement in force that was given for a severity, or a worse one. */
export const acknowledgementFor = (
  incident: AckColumns,
  severity: Severity,
  now: Instant.Instant,
): Acknowledgement | undefined => {
  const acknowledgement = acknowledgementInForce(incident, now)
  return acknowledgement === undefined || isBelow(acknowledgement.severity, severity)
    ? undefined
    : acknowledgement
}

/** Transitions of an incident's acknowledgement (docs/rules.md#acknowledgements). */
export const AcknowledgementTransitions = stateTable({
  none: {
    "acknowledged -> acknowledged":
      "a person or a sender acknowledges the incident, which is open | firings not yet attempted, up to its severity, are held until it ends; part of the timeline",
  },
  acknowledged: {
    "acknowledged -> acknowledged":
      "a person or a sender acknowledges it again | the former one is replaced; part of the timeline",
    "worsened -> none":
      "a member joins or worsens by an event that allows notifications, and the incident's severity is now above the acknowledged one | a firing for every receiver of a first step of the member's routes, whatever was sent before; later steps begin again; part of the timeline",
    "member_changed -> acknowledged": "any other change of a member",
    "withdrawn -> none":
      "who acknowledged it, or a person, withdraws it | its hold ends; later steps begin again; part of the timeline",
    "ran_out -> none":
      "its time is over | where a loud member is present, a firing for every receiver that knows of the incident, and for those of first steps whose firing waits, cause ack_ran_out; later steps begin again; part of the timeline",
    "incident_resolved -> none": "the last member leaves | none; it stays in the timeline",
  },
})

export const toAcknowledgement = ({ note, ...rest }: Acknowledgement) => ({
  ...rest,
  ...(note !== undefined && { note }),
})

/** The acknowledgement of an open incident while it is in force; the last one of a resolved incident. */
export const shownAcknowledgement = (incident: IncidentRecord, now: Instant.Instant) => {
  const acknowledgement =
    incident.state === "open" ? acknowledgementInForce(incident, now) : acknowledgementOf(incident)
  return acknowledgement === undefined ? null : toAcknowledgement(acknowledgement)
}
