import { moved, type Moved, type Rows } from "../service/Rows.ts"

const fieldsOf = <Row extends object>(kind: string, rows: ReadonlyArray<Moved<Row>>): ReadonlyArray<string> =>
  rows.flatMap(({ before, after }) => {
    if (before === undefined) return [`new ${kind}`]
    if (after === undefined) return [`no more ${kind}`]
    const was = new Map(Object.entries(before))
    return Object.entries(after).flatMap(([name, value]) =>
      was.get(name) === value ? [] : [`${kind}.${name}`],
    )
  })

/**
 * The fields that differ between two states, each named once with the kind of its row, and rows
 * that were added or removed.
 */
export const changedFields = (before: Rows, after: Rows): ReadonlyArray<string> => {
  const changed = [
    ...fieldsOf("agent", moved(before.agents, after.agents)),
    ...fieldsOf("key", moved(before.keys, after.keys)),
    ...fieldsOf("check", moved(before.checks, after.checks)),
    ...fieldsOf("incident", moved(before.incidents, after.incidents)),
    ...fieldsOf("member", moved(before.members, after.members)),
    ...fieldsOf("outbox item", moved(before.outbox, after.outbox)),
    ...(before.history.length === after.history.length ? [] : ["history"]),
    ...(before.scenarios.length === after.scenarios.length ? [] : ["scenario"]),
  ]
  return Array.from(new Set(changed)).toSorted()
}
