import type { AuditId } from "@tocsin/contract/audit/Audit"
import type { EventId, IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import { type Ids, newId } from "../../kernel/ports/Ids.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"

export interface IncidentOptions extends FiringOptions {
  readonly sha256: Hashing["Service"]["sha256"]
  readonly newEventId: (now: Instant) => EventId
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
  readonly newAuditId: (now: Instant) => AuditId
}

export const incidentOptions = (
  ids: Ids["Service"],
  policy: Pick<PolicyInForce["Service"], "current"> & Partial<Pick<PolicyInForce["Service"], "inForceSince">>,
  { staleAfter }: Pick<RuleOptions, "staleAfter">,
  { sha256 }: Pick<Hashing["Service"], "sha256">,
): IncidentOptions => ({
  policy: policy.current,
  policySince: policy.inForceSince,
  staleAfter,
  sha256,
  newEventId: newId<EventId>(ids),
  newIncidentId: newId<IncidentId>(ids),
  newOutboxId: newId<OutboxId>(ids),
  newAuditId: newId<AuditId>(ids),
})
