import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { Ids } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"

/** What incident decisions need besides rows. */
export interface IncidentOptions {
  readonly notifiers: ReadonlyArray<NotifierName>
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
}

/** A source of new IDs of one brand. */
export const newId =
  <Id extends string>(ids: Ids["Service"]) =>
  (now: Instant): Id =>
    // The port promises valid IDs; a schema would check each again.
    ids.uuidV7(now) as Id

export const incidentOptions = (ids: Ids["Service"], rules: RuleOptions): IncidentOptions => ({
  notifiers: rules.notifiers,
  newIncidentId: newId<IncidentId>(ids),
  newOutboxId: newId<OutboxId>(ids),
})
