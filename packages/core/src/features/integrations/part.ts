import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { Integrations } from "./Integrations.ts"
import { integrationsMetrics } from "./integrationsMetrics.ts"
import { mailsChore } from "./mail/sweepMails.ts"
import { ResolvedChecks } from "./resolveCheck.ts"
import { integrationsChore } from "./seeIntegrations.ts"
import { alertsChore } from "./sweepAlerts.ts"

/** The part of integrations in the core. */
export const integrations = {
  operations: ResolvedChecks,
  services: Integrations.layer,
  chores: (services: ChoreServices, incidents: IncidentOptions) => [
    alertsChore(services, incidents),
    mailsChore(services, incidents),
    integrationsChore(services, incidents),
  ],
  metrics: ["Requests and ingestion", integrationsMetrics] as const,
}
