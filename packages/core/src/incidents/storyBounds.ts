import type { IncidentId } from "../contract/Identifiers.ts"

/** An incident that has more changes keeps the first so many of them, … */
export const FIRST_CHANGES = 100
/** … and the last so many: how it began, and what it does now. */
export const LAST_CHANGES = 900
/** More changes than this no story has. */
export const STORY_CHANGES = FIRST_CHANGES + LAST_CHANGES

/** What a story loses: its changes from {@link FIRST_CHANGES} on, up to one of them. */
export interface StoryCut {
  readonly incident_id: IncidentId
  /** The number of the last change that goes. */
  readonly up_to: number
}

/** What a story loses when its change of this number is written. */
export const cutOf = (incident_id: IncidentId, seq: number): StoryCut | undefined =>
  seq > STORY_CHANGES ? { incident_id, up_to: seq - LAST_CHANGES } : undefined

/** Whether a change goes with a cut of its story. */
export const isCut = ({ seq }: { readonly seq: number }, { up_to }: StoryCut): boolean =>
  seq > FIRST_CHANGES && seq <= up_to
