import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { Ids } from "../ports/Ids.ts"
import type { PolicyOptions } from "../ports/Policy.ts"

/** What incidents need besides the rows. */
export interface IncidentOptions {
  readonly notifiers: ReadonlyArray<NotifierName>
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
}

/** A source of new ids of one brand. */
export const newId =
  <Id extends string>(ids: Ids["Service"]) =>
  (now: Instant): Id =>
    // The brands of ids stand for what the port promises; a schema would look again at each of them.
    ids.uuidV7(now) as Id

/** What incident decisions need, from the services that provide it. */
export const incidentOptions = (ids: Ids["Service"], policy: PolicyOptions): IncidentOptions => ({
  notifiers: policy.notifiers,
  newIncidentId: newId<IncidentId>(ids),
  newOutboxId: newId<OutboxId>(ids),
})
