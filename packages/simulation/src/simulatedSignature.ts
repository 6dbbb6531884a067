import type { Signature } from "@tocsin/core/audit/Signature"
import { AuditId } from "@tocsin/contract/Audit"

/** The actor of an action without a name. */
const SOMEBODY = "operator"

// A simulation keeps no audit.
const NO_ROW = AuditId.make("none")

/** The signature of an act in a simulation. */
export const simulatedSignature = (name = SOMEBODY): Signature => ({
  actor: name,
  via: "library",
  request_id: undefined,
  newAuditId: () => NO_ROW,
})
