import type { AuditRecord, AuditSubjectRow } from "./AuditRecord.ts"
import type { OperatorRecord } from "./OperatorRecord.ts"
import { instant, array, object, orUndefined, text } from "./columns.ts"
import type { TableShape } from "./TableShape.ts"

/** Named operators. */
export const operator: TableShape<OperatorRecord> = {
  name: "operator",
  key: ["name"],
  columns: {
    name: text,
    role: text,
    token_hash: text,
    former_token_hash: orUndefined(text),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text,
    expires_at: orUndefined(instant),
    last_used_at: orUndefined(instant),
  },
}

/** Changes that someone made. */
export const audit: TableShape<AuditRecord> = {
  name: "audit",
  key: ["id"],
  columns: {
    id: text,
    recorded_at: instant,
    actor: text,
    via: text,
    action: text,
    subjects: array,
    parameters: orUndefined(object),
    request_id: orUndefined(text),
  },
}

/** Their subjects, for the filter. */
export const audit_subject: TableShape<AuditSubjectRow> = {
  name: "audit_subject",
  key: ["audit_id", "subject_id"],
  columns: { subject_id: text, audit_id: text, recorded_at: instant, actor: text, action: text },
}
