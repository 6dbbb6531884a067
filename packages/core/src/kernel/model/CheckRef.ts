import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { type RecordOf, text, uuid } from "./TableShape.ts"

export const CHECK_COLUMNS = {
  agent_id: text<AgentId>(),
  registration_id: uuid<RegistrationId>(),
  check_id: text<CheckId>(),
}

/** A check of one registration: a new registration never sees checks of a deleted agent. */
export type CheckRef = RecordOf<{ readonly columns: typeof CHECK_COLUMNS }>

/** Names one check of an agent after another by the same object: to look up a row needs no new one. Not to be kept. */
export class CheckCursor implements CheckRef {
  readonly agent_id: AgentId
  readonly registration_id: RegistrationId
  // None yet: `at` gives the first.
  check_id = "" as CheckId

  constructor({ agent_id, registration_id }: Omit<CheckRef, "check_id">) {
    this.agent_id = agent_id
    this.registration_id = registration_id
  }

  at(check_id: CheckId): this {
    this.check_id = check_id
    return this
  }
}

export type CheckName = Pick<CheckRef, "agent_id" | "check_id">

/** Finds rows by their check, whatever the order in which a storage gave them. */
export const findByCheck = <Row extends CheckRef>(
  rows: ReadonlyArray<Row>,
): ((check: CheckRef) => Row | undefined) => {
  const keyOf = ({ check_id, registration_id }: CheckRef) => `${registration_id}/${check_id}`
  const found = new Map(rows.map((row) => [keyOf(row), row]))
  return (check) => found.get(keyOf(check))
}

export const checksOf = (
  { agent_id, registration_id }: Omit<CheckRef, "check_id">,
  checkIds: ReadonlyArray<CheckId>,
): ReadonlyArray<CheckRef> => checkIds.map((check_id) => ({ agent_id, registration_id, check_id }))

/** How the rows that a check may have beside its own are found: `keyedTable({ ...OF_CHECK, … })`. */
export const OF_CHECK = {
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
  // A registration belongs to one agent.
  partOf: (ref: CheckRef) => ref.registration_id,
  keyOf: (ref: CheckRef) => ref.check_id,
  groupsOf: (ref: CheckRef) => [ref.registration_id],
} as const
