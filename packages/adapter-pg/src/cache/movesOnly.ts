import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import { storedTables } from "@tocsin/core/ports/StoredTables"
import type { AnyShape, TableShape } from "@tocsin/core/ports/TableShape"

/** The columns that the verifying statement cannot write. */
const staying = <Row>(shape: TableShape<Row>): ReadonlyArray<keyof Row> => {
  const { columns }: AnyShape = shape
  // Object.keys loses the type; a shape has no other columns.
  return Object.keys(columns).filter((name) => columns[name]?.moves !== true) as Array<keyof Row & string>
}

const stayingOfAgent = staying(storedTables.agent)
const stayingOfCheck = staying(storedTables.check_state)

/** Features and labels: flat objects of texts and booleans. */
const isSameObject = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  const entries = Object.entries(a)
  if (entries.length !== Object.keys(b).length) return false
  const others = new Map(Object.entries(b))
  return entries.every(([name, value]) => others.has(name) && others.get(name) === value)
}

const staysIn = <Row>(columns: ReadonlyArray<keyof Row>, before: Row, after: Row): boolean => {
  for (const column of columns) {
    if (before[column] !== after[column] && !isSameObject(before[column], after[column])) return false
  }
  return true
}

/** Whether an agent was merely seen: what every heartbeat and batch changes. */
export const isOnlySeen = (before: AgentRecord, after: AgentRecord): boolean =>
  staysIn(stayingOfAgent, before, after)

/** Whether a check was merely refreshed: what every unchanged result changes. */
export const isOnlyRefreshed = (before: CheckRecord, after: CheckRecord): boolean =>
  staysIn(stayingOfCheck, before, after)
