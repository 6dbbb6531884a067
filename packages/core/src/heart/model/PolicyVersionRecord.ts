import { instant, integer, keyedTable, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** A policy that was applied (docs/rules.md#a-stored-policy). The newest one is in force. */
export const policy_version = keyedTable({
  name: "policy_version",
  key: ["version"],
  locks: "rows",
  columns: {
    /** Counts from 1. */
    version: integer,
    hash: text(),
    /** As it was given: YAML or JSON. */
    text: text(),
    applied_at: instant,
    applied_by: text(),
  },
})
export type PolicyVersionRecord = RecordOf<typeof policy_version>

export const KEPT_VERSIONS = 100

/** Where a search for versions begins that leaves out none. */
export const LAST_VERSION = 2_147_483_647
