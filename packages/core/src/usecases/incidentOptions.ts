import { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import type { Ids } from "../ports/Ids.ts"
import type { PolicyOptions } from "../ports/Policy.ts"

/** A source of new ids of one brand. */
export const newId =
  <Id>(ids: Ids["Service"], schema: { readonly make: (text: string) => Id }) =>
  (now: Instant): Id =>
    schema.make(ids.uuidV7(now))

/** What incident decisions need, from the services that provide it. */
export const incidentOptions = (ids: Ids["Service"], policy: PolicyOptions): IncidentOptions => ({
  notifiers: policy.notifiers,
  newIncidentId: newId(ids, IncidentId),
  newOutboxId: newId(ids, OutboxId),
})
