import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { leavingChecksChore } from "./leavingChecks.ts"
import { placeFollowing, Watches } from "./Watches.ts"
import { watchesMetrics } from "./watchesMetrics.ts"
import * as WatchRunner from "./WatchRunner.ts"

/** The part of watches in the core. */
export const watches = {
  services: Watches.layer,
  beneath: placeFollowing,
  probes: WatchRunner.layer,
  chores: (services: ChoreServices, incidents: IncidentOptions) => [leavingChecksChore(services, incidents)],
  metrics: ["Requests and ingestion", watchesMetrics] as const,
}
