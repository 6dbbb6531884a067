import { fixed, type ListPlan, one } from "../../kernel/model/ListPlan.ts"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { Struct } from "effect"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import type { AuditEntry, AuditId, AuditVia } from "@tocsin/contract/audit/Audit"
import type { AuditActionName, AuditSubjectKind } from "@tocsin/contract/audit/AuditActions"
import {
  array,
  instant,
  object,
  orUndefined,
  type RecordOf,
  storedTable,
  text,
} from "../../kernel/model/TableShape.ts"

export interface AuditSubject {
  readonly kind: AuditSubjectKind
  readonly id: string
}

/** Details of a change: no secret. */
export type AuditParameters = Readonly<Record<string, string | number | boolean | null>>

export interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: AuditActionName | undefined
  /** The ID of a subject, of any kind. */
  readonly subject?: string | undefined
  /** The first moment, and the one after the last: a row lies in between. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}

/** Rows of one subject have an index in order for each set of other filters. */
const planAudit = ({ action, actor, subject }: AuditFilter): ListPlan =>
  one({
    fixed: [...fixed("subject_id", subject), ...fixed("actor", actor), ...fixed("action", action)],
    ...(subject === undefined ? {} : { by: "audit_subject" }),
  })

/** One row of the audit, never edited (docs/rules.md#audit). */
export const audit = storedTable({
  name: "audit",
  key: ["id"],
  expiry: {
    rule: "audit",
    from: "recorded_at",
    after: "audit",
    subject: "a row of the audit",
    expires: "recorded before the bound",
  },
  list: { name: "audit", orders: { recorded_at: ["recorded_at", "id"] }, plan: planAudit },
  columns: {
    id: text<AuditId>(),
    recorded_at: instant,
    actor: text(),
    via: text<AuditVia>(),
    action: text<AuditActionName>(),
    /** At most {@link MAX_SUBJECTS}. */
    subjects: array<AuditSubject>(),
    parameters: orUndefined(object<AuditParameters>()),
    /** Of the request that made the change. */
    request_id: orUndefined(text()),
  },
})
export type AuditRecord = RecordOf<typeof audit>

export const auditedCheck = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

/** A change of more subjects writes further rows. */
export const MAX_SUBJECTS = 100

/** A subject of a row, with all that the list is filtered and ordered by: an index finds the rows of a subject in order. */
export const audit_subject = storedTable({
  name: "audit_subject",
  key: ["audit_id", "subject_id"],
  columns: {
    subject_id: text(),
    audit_id: text<AuditId>(),
    recorded_at: instant,
    actor: text(),
    action: text<AuditActionName>(),
  },
})

export const subjectRowsOf = (
  rows: ReadonlyArray<AuditRecord>,
): ReadonlyArray<RecordOf<typeof audit_subject>> =>
  rows.flatMap(({ id, recorded_at, actor, action, subjects }) =>
    Array.from(new Set(subjects.map((subject) => subject.id)), (subject_id) => ({
      subject_id,
      audit_id: id,
      recorded_at,
      actor,
      action,
    })),
  )

export const toAuditEntry = (record: AuditRecord): AuditEntry => ({
  id: record.id,
  at: record.recorded_at,
  ...Struct.pick(record, ["actor", "via", "action", "subjects"]),
  parameters: record.parameters ?? {},
  request_id: record.request_id ?? null,
})
