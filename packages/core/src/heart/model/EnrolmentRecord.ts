import type { EnrolmentId, EnrolmentState } from "@tocsin/contract/enrolment/Enrolments"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import {
  instant,
  integer,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"

/** A token by which pending agents are accepted (docs/rules.md#enrolment). */
export const enrolment = keyedTable({
  name: "enrolment",
  key: ["id"],
  locks: "rows",
  expiry: {
    rule: "enrolments",
    from: "expires_at",
    after: "pending",
    subject: "an enrolment",
    expires: "its end came before the bound of pending agents",
  },
  list: { name: "enrolments", orders: { created_at: ["created_at", "id"] } },
  columns: {
    /** A hash of its token: whoever reads it cannot enrol. */
    id: text<EnrolmentId>(),
    /** The only agent, or any. */
    agent_id: orUndefined(text<AgentId>()),
    uses: integer,
    used: integer,
    expires_at: instant,
    created_at: instant,
    created_by: text(),
  },
})
export type EnrolmentRecord = RecordOf<typeof enrolment>

/** Whether an enrolment admits agents. Computed, never stored. */
export const enrolmentState = (
  { expires_at, used, uses }: Pick<EnrolmentRecord, "expires_at" | "used" | "uses">,
  now: Instant,
): EnrolmentState => (used >= uses ? "used" : expires_at <= now ? "expired" : "open")

/** Transitions of an enrolment (docs/rules.md#enrolment). Its uses and its end are stored, its state is computed. */
export const EnrolmentTransitions = stateTable({
  absent: {
    "created -> open": "an operator creates it | its token is shown once",
  },
  open: {
    "enrolled -> open":
      "a pending agent without an accepted key shows its token, and another use is left | the agent is accepted",
    "last_enrolled -> used": "as above, with the last use | the agent is accepted",
    "ended -> expired": "its end has come | its token is refused",
    "removed -> absent":
      "an operator deletes it | its token is refused; agents that it admitted stay accepted",
  },
  used: {
    "removed -> absent": "an operator deletes it, or retention removes it",
  },
  expired: {
    "removed -> absent": "an operator deletes it, or retention removes it",
  },
})
