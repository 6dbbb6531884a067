import type { CheckName } from "./CheckRecord.ts"
import type { AuditId, AuditVia } from "@tocsin/contract/Audit"
import type { AuditActionName, AuditSubjectKind } from "@tocsin/contract/AuditActions"
import { array, instant, object, orUndefined, type RecordOf, storedTable, text } from "./TableShape.ts"

export interface AuditSubject {
  readonly kind: AuditSubjectKind
  readonly id: string
}

/** Details of a change: no secret. */
export type AuditParameters = Readonly<Record<string, string | number | boolean | null>>

/** One row of the audit, never edited (docs/rules.md#audit). */
export const audit = storedTable({
  name: "audit",
  key: ["id"],
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

/** The subjects of rows, each once a row. */
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
