import { Schema } from "effect"
import { NonNegativeInteger } from "./NonNegativeInteger.ts"
import { timestamp } from "./timestamp.ts"

const count = (description: string) => NonNegativeInteger.annotate({ description })

/** How many of what there is, at one moment; its size does not depend on the rows. */
export const SystemSummary = Schema.Struct({
  agents_online: count("Accepted agents that are alive."),
  agents_offline: count("Accepted agents that are stale or dead."),
  checks_ok: count("Checks that are ok."),
  checks_warning: count("Checks that are in warning."),
  checks_critical: count("Checks that are critical."),
  checks_unknown: count("Checks whose status is unknown."),
  open_incidents: count("Incidents that are open."),
  generated_at: timestamp("The moment at which the counts hold."),
}).annotate({
  identifier: "SystemSummaryResponse",
  description: "Counts of agents, checks and open incidents.",
})
export type SystemSummary = typeof SystemSummary.Type
