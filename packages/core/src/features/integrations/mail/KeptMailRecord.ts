import { Duration } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { KeptMail, MailId, MailOutcome } from "@tocsin/contract/integrations/Mails"
import {
  instant,
  keyedTable,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../../kernel/model/TableShape.ts"
import type { MailField } from "./Mail.ts"

/** The parts of a mail that are kept, to try rules with it. */
export interface KeptText {
  readonly sender: string
  readonly fields: ReadonlyArray<MailField>
  readonly text: string
  readonly isReport?: true
  /** Its Date, in microseconds since 1970. */
  readonly sent_at?: number
  /** The name of a check in the address. */
  readonly check?: string
}

/** One of the last mails of an integration. The lock of its agent guards the rows. */
export const kept_mail = keyedTable({
  name: "kept_mail",
  key: ["id"],
  group: ["integration"],
  locks: "guarded",
  expiry: {
    rule: "kept_mails",
    from: "received_at",
    after: Duration.days(7),
    subject: "a kept mail",
    expires: "received more than 7 d ago",
  },
  columns: {
    id: text<MailId>(),
    integration: text<AgentId>(),
    received_at: instant,
    sender: text(),
    subject: text(),
    outcome: text<MailOutcome>(),
    decided_by: text(),
    check_id: orUndefined(text<CheckId>()),
    status: orUndefined(text<CheckStatus>()),
    reason: orUndefined(text()),
    mail: object<KeptText>({ sender: "", fields: [], text: "" }),
  },
})
export type KeptMailRecord = RecordOf<typeof kept_mail>

export const toKeptMail = ({
  check_id,
  decided_by,
  id,
  outcome,
  reason,
  received_at,
  sender,
  status,
  subject,
}: KeptMailRecord): KeptMail => ({
  id,
  received_at,
  from: sender,
  subject,
  outcome,
  by: decided_by,
  ...(check_id !== undefined && { check_id }),
  ...(status !== undefined && { status }),
  ...(reason !== undefined && { reason }),
})
