import type { HeldIncident } from "@tocsin/client"
import { arranged, placeAmong, type Sorts } from "../state/arranged.ts"
import { groupedBy } from "../state/groupedBy.ts"
import { nameOf } from "../state/incidentActions.ts"
import { type List, SEVERITIES } from "../state/lists.ts"

const placeOf = placeAmong(SEVERITIES)

const SORTS: Sorts<HeldIncident> = {
  severity: ({ severity }) => placeOf(severity),
  name: nameOf,
  output: ({ summary: text }) => text,
  took: ({ opened_at, resolved_at }) =>
    typeof resolved_at === "string" ? Date.parse(resolved_at) - Date.parse(opened_at) : undefined,
  time: ({ opened_at, resolved_at }) => resolved_at ?? opened_at,
}

/** Incidents in the order of a head of their list, and in groups by a label. */
export const arrangedIncidents = (
  list: List<HeldIncident>,
  { group, sort }: Readonly<Record<string, string>>,
): List<HeldIncident> =>
  groupedBy(
    arranged(() => list, { sorts: SORTS, sort }),
    group,
  )
