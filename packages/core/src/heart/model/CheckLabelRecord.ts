import type { Labels } from "@tocsin/contract/labels/Labels"
import { one } from "../../kernel/model/ListPlan.ts"
import { topic } from "../../kernel/topics/Topics.ts"
import { CHECK_COLUMNS, OF_CHECK } from "../../kernel/model/CheckRef.ts"
import {
  instant,
  keyedTable,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

const CHECKS = topic("checks")

/** A check that has labels: matchers compare them before those of its agent. */
export const check_label = keyedTable({
  name: "check_label",
  ...OF_CHECK,
  topicsOf: () => CHECKS,
  list: { name: "labelled", orders: { agent_id: ["agent_id", "check_id"] }, plan: () => one({}) },
  columns: {
    ...CHECK_COLUMNS,
    /** Those that its sender gives, with the title that is shown. */
    labels: object<Labels>(),
    /** An operator's title; absent without one. */
    title: orUndefined(text()),
    /** The title of its watch or integration; an alert has the title that its labels make. */
    given_title: orUndefined(text()),
    /** The label `title` of its sender, while another is in its place. */
    declared_title: orUndefined(text()),
    labelled_at: instant,
  },
})
export type CheckLabelRecord = RecordOf<typeof check_label>
