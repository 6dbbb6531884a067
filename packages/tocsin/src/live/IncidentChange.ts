import type { Incident } from "@tocsin/client/Resources"
import { type Incident as CoreIncident, Incident as IncidentSchema } from "@tocsin/contract/Resources"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import { toIncident } from "@tocsin/core/usecases/toResources"
import { Schema } from "effect"

/** One committed change of an incident, as plain data. */
export interface IncidentNews {
  /** `changed`: an open incident has another severity, summary or members. */
  readonly type: "opened" | "changed" | "resolved"
  /** The incident as that change left it. */
  readonly incident: Incident
  /** How many changes were dropped before this one, because the subscriber was too slow. */
  readonly missed: number
}

/** One committed change of an incident. */
export interface IncidentChange extends Omit<IncidentNews, "incident"> {
  /** The incident as that transaction left it. */
  readonly incident: IncidentRecord
}

type Uncounted = Omit<IncidentChange, "missed">

const isSame = (a: IncidentRecord, b: IncidentRecord): boolean =>
  a.severity === b.severity &&
  a.summary === b.summary &&
  a.member_changes === b.member_changes &&
  a.agent_id === b.agent_id &&
  a.check_id === b.check_id

/** The change from `before` to `after`; none if no reader can see a difference. */
export const incidentChangeOf = (
  before: IncidentRecord | undefined,
  after: IncidentRecord,
): Uncounted | undefined => {
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

const encode: (incident: CoreIncident) => Incident = Schema.encodeSync(IncidentSchema)

/** A change as plain data. */
export const toIncidentNews = ({ type, incident, missed }: IncidentChange): IncidentNews => ({
  type,
  incident: encode(toIncident(incident)),
  missed,
})
