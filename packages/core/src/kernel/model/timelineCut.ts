import type { IncidentId } from "@tocsin/contract/formats/Identifiers"

/** A long history of changes keeps this many of the first … */
export const FIRST_CHANGES = 100
/** … and this many of the last changes: how it began, and what happens now. */
export const LAST_CHANGES = 900
export const STORY_CHANGES = FIRST_CHANGES + LAST_CHANGES

/** The changes that an incident's history drops: from {@link FIRST_CHANGES} up to this one. */
export interface TimelineCut {
  readonly incident_id: IncidentId
  readonly up_to: number
}

/** The changes to delete when the change of this number is written. */
export const cutOf = (incident_id: IncidentId, seq: number): TimelineCut | undefined =>
  seq > STORY_CHANGES ? { incident_id, up_to: seq - LAST_CHANGES } : undefined

export const isCut = ({ seq }: { readonly seq: number }, { up_to }: TimelineCut): boolean =>
  seq > FIRST_CHANGES && seq <= up_to
