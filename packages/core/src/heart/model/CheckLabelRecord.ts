import { LONGEST_TITLE } from "@tocsin/contract/titles/Titles"
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
    /** Those that its sender gives, with the title of an operator. */
    labels: object<Labels>(),
    /** An operator's title; absent without one. */
    title: orUndefined(text()),
    /** The label `title` of its sender, while an operator's is in its place. */
    declared_title: orUndefined(text()),
    labelled_at: instant,
  },
})
export type CheckLabelRecord = RecordOf<typeof check_label>

/** The labels that its sender gave. */
export const declaredLabels = ({ declared_title, labels, title }: CheckLabelRecord): Labels => {
  if (title === undefined) return labels
  const { title: _, ...others } = labels
  return declared_title === undefined ? others : { ...others, title: declared_title }
}

/** The title of a check by its own labels: cut, and none that is blank (docs/rules.md#titles). */
export const titleOf = (labels: Labels | undefined): string | undefined => {
  const title = Array.from((labels?.["title"] ?? "").trim()).slice(0, LONGEST_TITLE)
  return title.length === 0 ? undefined : title.join("")
}
