import type { CheckId } from "@tocsin/core/contract/Identifiers"
import { HEARTBEAT } from "@tocsin/core/incidents/MemberRecord"

/** The check as receivers know it: a heartbeat incident is about its agent and has none (docs/rules.md#heartbeat-incidents). */
export const checkIdOf = (id: CheckId | undefined): CheckId | undefined => (id === HEARTBEAT ? undefined : id)
