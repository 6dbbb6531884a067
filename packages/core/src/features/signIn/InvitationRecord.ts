import { Duration } from "effect"
import type { OperatorName } from "@tocsin/contract/operators/Operators"
import type { InvitationId } from "@tocsin/contract/signIn/Invitations"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { instant, keyedTable, orUndefined, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** A link by which an operator signs in once (docs/rules.md#invitations). */
export const invitation = keyedTable({
  name: "invitation",
  key: ["id"],
  group: ["operator"],
  // Commands that add or use one lock its operator.
  locks: "rows",
  expiry: {
    rule: "invitations",
    from: "expires_at",
    after: Duration.zero,
    subject: "an invitation",
    expires: "its end has come",
  },
  columns: {
    /** A hash of its token: its reader cannot use it. */
    id: text<InvitationId>(),
    operator: text<OperatorName>(),
    /** When the operator was created: another one of its name is not invited. */
    operator_since: instant,
    created_by: text(),
    created_at: instant,
    expires_at: instant,
    used_at: orUndefined(instant),
  },
})
export type InvitationRecord = RecordOf<typeof invitation>

export const isOpen = ({ expires_at, used_at }: InvitationRecord, now: Instant): boolean =>
  used_at === undefined && expires_at > now
