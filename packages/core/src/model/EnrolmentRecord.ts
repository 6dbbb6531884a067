import type { EnrolmentId, EnrolmentState } from "@tocsin/contract/Enrolments"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { instant, integer, orUndefined, text } from "./columns.ts"
import type { KeyedShape } from "./TableShape.ts"

/** A token by which pending agents are accepted (docs/rules.md#enrolment). */
export interface EnrolmentRecord {
  /** A hash of its token: whoever reads it cannot enrol. */
  readonly id: EnrolmentId
  /** The only agent, or any. */
  readonly agent_id: AgentId | undefined
  readonly uses: number
  readonly used: number
  readonly expires_at: Instant
  readonly created_at: Instant
  readonly created_by: string
}

/** Whether an enrolment admits agents. Computed, never stored. */
export const enrolmentState = (
  { expires_at, used, uses }: Pick<EnrolmentRecord, "expires_at" | "used" | "uses">,
  now: Instant,
): EnrolmentState => (used >= uses ? "used" : expires_at <= now ? "expired" : "open")

/** The outcome of an enrolment. `repeated`: the key was accepted before. */
export type EnrolOutcome =
  | "enrolled"
  | "repeated"
  | "unknown_token"
  | "replacement_key"
  | "agent_blocked"
  | "agent_not_accepted"

/** Its table. */
export const enrolment: KeyedShape<EnrolmentRecord, readonly ["id"]> = {
  name: "enrolment",
  key: ["id"],
  locks: "rows",
  columns: {
    id: text,
    agent_id: orUndefined(text),
    uses: integer,
    used: integer,
    expires_at: instant,
    created_at: instant,
    created_by: text,
  },
}
