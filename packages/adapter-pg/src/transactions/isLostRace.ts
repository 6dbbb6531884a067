import type { SqlError } from "effect/sql"

/** Unique indexes in which two transactions can meet that both found nothing to lock. */
const racedConstraints = new Set(["agent_pkey", "agent_key_pkey", "incident_open", "mark_pkey"])

/** Whether a transaction failed only because another one was quicker; decided again, it sees what that one did. */
export const isLostRace = ({ reason }: SqlError.SqlError): boolean => {
  switch (reason._tag) {
    case "DeadlockError":
    case "SerializationError":
      return true
    case "UniqueViolation":
      return racedConstraints.has(reason.constraint)
    default:
      return false
  }
}
