import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import type { Labels } from "@tocsin/contract/Labels"
import { instant, keyedTable, object, type RecordOf, text, uuid } from "./TableShape.ts"

/** A check that has labels: matchers compare them before those of its agent. */
export const check_label = keyedTable({
  name: "check_label",
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
  columns: {
    agent_id: text<AgentId>(),
    registration_id: uuid<RegistrationId>(),
    check_id: text<CheckId>(),
    labels: object<Labels>(),
    labelled_at: instant,
  },
})
export type CheckLabelRecord = RecordOf<typeof check_label>
