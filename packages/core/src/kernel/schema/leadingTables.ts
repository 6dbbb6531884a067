/** The tables that lead to rows of a list. */
export const leadingTables = {
  listed_member: "listed_member",
  audit_subject: "(SELECT subject_id, audit_id AS id, recorded_at, actor, action FROM audit_subject)",
} as const
