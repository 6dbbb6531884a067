import type { Incident } from "@tocsin/client/Resources"
import { type Incident as CoreIncident, Incident as IncidentSchema } from "@tocsin/core/contract/Resources"
import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import { toIncident } from "@tocsin/core/usecases/toResources"
import { Schema } from "effect"

/** One committed change of an incident, as {@link IncidentFeed} tells it. */
export interface IncidentChange {
  /** `changed`: its severity, its summary or its members are others, and it is open as before. */
  readonly type: "opened" | "changed" | "resolved"
  /** The incident as that transaction left it. */
  readonly incident: IncidentRecord
  /** How many changes were dropped before this one, because they were not taken in time. */
  readonly missed: number
}

type Told = Omit<IncidentChange, "missed">

const isSame = (a: IncidentRecord, b: IncidentRecord): boolean =>
  a.severity === b.severity &&
  a.summary === b.summary &&
  a.member_changes === b.member_changes &&
  a.agent_id === b.agent_id &&
  a.check_id === b.check_id

/**
 * What a transaction that made `after` of `before` has to tell; nothing where no reader could see a
 * difference.
 */
export const incidentChangeOf = (
  before: IncidentRecord | undefined,
  after: IncidentRecord,
): Told | undefined => {
  if (before === undefined) {
    return after.state === "open"
      ? { type: "opened", incident: after }
      : { type: "resolved", incident: after }
  }
  if (after.state === "resolved") {
    return before.state === "open" ? { type: "resolved", incident: after } : undefined
  }
  return isSame(before, after) ? undefined : { type: "changed", incident: after }
}

/** One committed change of an incident, as plain data. */
export interface IncidentNews {
  /** `changed`: its severity, its summary or its members are others, and it is open as before. */
  readonly type: "opened" | "changed" | "resolved"
  /** The incident as that change left it. */
  readonly incident: Incident
  /**
   * How many changes were dropped before this one, because they were not taken in time; 0 where you
   * keep up.
   */
  readonly missed: number
}

const encode: (incident: CoreIncident) => Incident = Schema.encodeSync(IncidentSchema)

/** A change as plain data. */
export const toIncidentNews = ({ type, incident, missed }: IncidentChange): IncidentNews => ({
  type,
  incident: encode(toIncident(incident)),
  missed,
})
