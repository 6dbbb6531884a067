import type { CheckName } from "./CheckRecord.ts"
import type { AuditActionName, AuditId, AuditSubjectKind, AuditVia } from "@tocsin/contract/Audit"
import type { Instant } from "@tocsin/contract/Instant"
import { array, instant, object, orUndefined, type TableShape, text } from "./TableShape.ts"

/** One thing that a change concerned. */
export interface AuditSubject {
  readonly kind: AuditSubjectKind
  readonly id: string
}

/** Details of a change: no secret. */
export type AuditParameters = Readonly<Record<string, string | number | boolean | null>>

/** One row of the audit, never edited (docs/rules.md#audit). */
export interface AuditRecord {
  readonly id: AuditId
  readonly recorded_at: Instant
  readonly actor: string
  readonly via: AuditVia
  readonly action: AuditActionName
  /** At most {@link MAX_SUBJECTS}. */
  readonly subjects: ReadonlyArray<AuditSubject>
  readonly parameters: AuditParameters | undefined
  /** Of the request that made the change. */
  readonly request_id: string | undefined
}

/** The ID of a check as a subject. */
export const auditedCheck = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

/** A change of more subjects writes further rows. */
export const MAX_SUBJECTS = 100

/** A subject of a row, with all that the list is filtered and ordered by: an index finds the rows of a subject in order. */
export interface AuditSubjectRow extends Pick<AuditRecord, "recorded_at" | "actor" | "action"> {
  readonly subject_id: string
  readonly audit_id: AuditId
}

/** The subjects of rows, each once a row. */
export const subjectRowsOf = (rows: ReadonlyArray<AuditRecord>): ReadonlyArray<AuditSubjectRow> =>
  rows.flatMap(({ id, recorded_at, actor, action, subjects }) =>
    Array.from(new Set(subjects.map((subject) => subject.id)), (subject_id) => ({
      subject_id,
      audit_id: id,
      recorded_at,
      actor,
      action,
    })),
  )

/** Its table. */
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

/** Its subjects, for the filter. */
export const audit_subject: TableShape<AuditSubjectRow> = {
  name: "audit_subject",
  key: ["audit_id", "subject_id"],
  columns: { subject_id: text, audit_id: text, recorded_at: instant, actor: text, action: text },
}
