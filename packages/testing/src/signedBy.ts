import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { AuditId } from "@tocsin/contract/audit/Audit"
import { eventId } from "./samples.ts"

// Far from the numbers of events.
let made = 1_000_000

/**
 * The signature of a change that writes one row of the audit. The ID of that row is its own, so that a
 * decision that is repeated has the same row.
 */
export const signedBy = (actor: string): Signature => {
  made += 1
  const id = AuditId.make(eventId(made))
  return { actor, via: "api", request_id: undefined, newAuditId: () => id }
}
