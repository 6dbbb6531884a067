import * as Instant from "@tocsin/contract/formats/Instant"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings } from "../policy/routing.ts"

/** Counts how often the key of an incident was opened in a span until it opened. */
export function* readOpenings(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { flapping }: Pick<Policy, "flapping">,
): Decision<(incident: IncidentRecord) => CountOpenings> {
  if (flapping === undefined || incidents.length === 0) return () => () => 0
  const asked = incidents.map((incident) => ({
    incident,
    since: Instant.minus(incident.opened_at, flapping.within),
    until: incident.opened_at,
    limit: flapping.openings,
  }))
  const openings = yield* find("openings", asked)
  // Searches do not see what this transaction opened.
  const opened = unit.incidents
    .changes()
    .flatMap(({ after, before }) => (before === undefined && after ? [after] : []))
  return ({ id, incident_key, kind, opened_at }) =>
    (within) => {
      const since = Instant.minus(opened_at, within)
      const own = opened.filter((other) => other.incident_key === incident_key && other.kind === kind)
      return [...(openings.get(id) ?? []), ...own.map((other) => other.opened_at)].filter((at) => at > since)
        .length
    }
}
