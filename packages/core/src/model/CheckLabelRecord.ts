import type { Labels } from "@tocsin/contract/Labels"
import { CHECK_COLUMNS, OF_CHECK } from "./CheckRecord.ts"
import { instant, keyedTable, object, type RecordOf } from "./TableShape.ts"

/** A check that has labels: matchers compare them before those of its agent. */
export const check_label = keyedTable({
  name: "check_label",
  ...OF_CHECK,
  columns: {
    ...CHECK_COLUMNS,
    labels: object<Labels>(),
    labelled_at: instant,
  },
})
export type CheckLabelRecord = RecordOf<typeof check_label>
