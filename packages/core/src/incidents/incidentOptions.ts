import type { AuditId } from "@tocsin/contract/Audit"
import type { EventId, IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Hashing } from "../ports/Hashing.ts"
import { type Ids, newId } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"

export interface IncidentOptions extends FiringOptions {
  readonly sha256: Hashing["Service"]["sha256"]
  readonly newEventId: (now: Instant) => EventId
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
  readonly newAuditId: (now: Instant) => AuditId
}

export const incidentOptions = (
  ids: Ids["Service"],
  policy: Pick<PolicyInForce["Service"], "current">,
  { staleAfter }: Pick<RuleOptions, "staleAfter">,
  { sha256 }: Pick<Hashing["Service"], "sha256">,
): IncidentOptions => ({
  policy: policy.current,
  staleAfter,
  sha256,
  newEventId: newId<EventId>(ids),
  newIncidentId: newId<IncidentId>(ids),
  newOutboxId: newId<OutboxId>(ids),
  newAuditId: newId<AuditId>(ids),
})
