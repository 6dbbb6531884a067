import { type Incident as CoreIncident, Incident as IncidentSchema } from "@tocsin/core/contract/Resources"
import { toIncident } from "@tocsin/core/usecases/toResources"
import { Schema } from "effect"
import type { Incident } from "@tocsin/client/Resources"
import type { IncidentChange } from "./IncidentChange.ts"

/** One committed change of an incident, as plain data. */
export interface IncidentNews {
  /** `changed`: its severity, its summary or its members are others, and it is open as before. */
  readonly type: "opened" | "changed" | "resolved"
  /** The incident as that change left it. */
  readonly incident: Incident
  /** How many changes were dropped before this one, because they were not taken in time; 0 where you keep up. */
  readonly missed: number
}

const encode: (incident: CoreIncident) => Incident = Schema.encodeSync(IncidentSchema)

/** A change as plain data. */
export const toIncidentNews = ({ type, incident, missed }: IncidentChange): IncidentNews => ({
  type,
  incident: encode(toIncident(incident)),
  missed,
})
