import type { AuditId } from "../contract/Audit.ts"
import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { HoldOptions } from "../holds/gatherHolds.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Ids } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"

/** What incident decisions need besides rows. */
export interface IncidentOptions extends HoldOptions {
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
  readonly newAuditId: (now: Instant) => AuditId
}

/** A source of new IDs of one brand. */
export const newId =
  <Id extends string>(ids: Ids["Service"]) =>
  (now: Instant): Id =>
    // The port promises valid IDs; a schema would check each again.
    ids.uuidV7(now) as Id

export const incidentOptions = (
  ids: Ids["Service"],
  policy: Pick<PolicyInForce["Service"], "current">,
  { staleAfter }: Pick<RuleOptions, "staleAfter">,
): IncidentOptions => ({
  policy: policy.current,
  staleAfter,
  newIncidentId: newId<IncidentId>(ids),
  newOutboxId: newId<OutboxId>(ids),
  newAuditId: newId<AuditId>(ids),
})
